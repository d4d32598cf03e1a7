"""Print every promise with the command that shows it and the value measured now.

    python benchmarks/acceptance.py [--only 1,2] [--bench results.json]

Without --bench the benchmarks are run now as well, which takes the longest: TextAttack's genetic
search alone needs tens of minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
Row = tuple[str, str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="1,2,3,4,5,6", help="numbers of the items")
    parser.add_argument("--bench", type=Path, help="results of make bench, instead of running it")
    given = parser.parse_args()
    failed = 0
    for number in given.only.split(","):
        print(f"\n{number}. {ITEMS[number][0]}", flush=True)
        for value, command, verdict in ITEMS[number][1](given):
            failed += verdict != "yes"
            print(f"   [{verdict:^8}] {value}\n              {command}", flush=True)
    sys.exit(1 if failed else 0)


def tests(*words: str) -> Iterator[Row]:
    """Run tests and give what pytest says in its last line."""
    command = [sys.executable, "-m", "pytest", "-q", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    last = [line for line in done.stdout.strip().splitlines() if line][-1]
    shown = "pytest " + " ".join(words)
    nothing = re.search(r"\d+ passed", last) is None
    yield last.strip("= "), shown, "yes" if done.returncode == 0 and not nothing else "no"


def references(given: Any) -> Iterator[Row]:
    yield from tests("tests/attacks/test_references.py")


def contract(given: Any) -> Iterator[Row]:
    yield from tests("tests/attacks/test_contract.py")


def benchmarks(given: Any) -> Iterator[Row]:
    if given.bench:
        yield from bench_rows(json.loads(given.bench.read_text()), f"make bench ({given.bench})")
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.json"
        subprocess.run([sys.executable, str(HERE / "run.py"), "--out", str(out)], check=True)
        yield from bench_rows(json.loads(out.read_text()), "python benchmarks/run.py")


def bench_rows(content: dict[str, Any], command: str) -> Iterator[Row]:
    sys.path.insert(0, str(HERE))
    from run import GOALS

    for row in content["rows"]:
        goal = GOALS[row["name"]]
        told = f"{row['name']}: {row['ratio']:.1f}× TextAttack's examples/s (asked for ≥ {goal:g}×)"
        yield told, command, yes(row["ratio"] >= goal)
        won = {side: row[side]["won"] / row[side]["attacked"] for side in ("ours", "peer")}
        told = f"{row['name']}: success {won['ours']:.1%}, TextAttack {won['peer']:.1%}"
        yield f"{told}; intervals overlap", command, yes(row["overlap"])
    start = content["startup"]["ratio"]
    yield f"start-up: {start:.1f}× (asked for ≥ 20×)", command, yes(start >= 20)
    limits = {"lstm pwws": 1.5, "minilm pwws": 1.15}
    seen = {}
    for row in content["rows"]:
        seen.setdefault(row["name"].split(",")[0], row["ours"])
    for name, most in limits.items():
        if name not in seen:
            yield f"{name} against the bare model: not measured", command, "not done"
            continue
        ratio, scorer = seen[name]["over_bare"], seen[name]["over_scorer"]
        told = (
            f"{name}: wall time {ratio:.2f}× the bare model as torch runs it (asked for ≤ {most}×)"
        )
        yield f"{told}, {scorer:.2f}× brittle's own scorer", command, yes(ratio <= most)
    cost = seen["lstm genetic"]["engine_microseconds"]
    yield f"genetic: engine {cost:.1f} µs per text asked (asked for ≤ 10)", command, yes(cost <= 10)


def memory(given: Any) -> Iterator[Row]:
    yield from script("memory.py")


def kills(given: Any) -> Iterator[Row]:
    yield from script("kills.py", "--kills", "10")


def bad_input(given: Any) -> Iterator[Row]:
    yield from tests("tests/robustness/test_bad_input.py")


def script(name: str, *words: str) -> Iterator[Row]:
    """Run a benchmark script and give its last line."""
    began = time.perf_counter()
    command = [sys.executable, str(HERE / name), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [line for line in (done.stdout or done.stderr).strip().splitlines() if line]
    last = lines[-1] if lines else "no output"
    told = f"{last} ({time.perf_counter() - began:.0f} s)"
    yield told, f"python benchmarks/{name} {' '.join(words)}".strip(), yes(done.returncode == 0)


def yes(holds: bool) -> str:
    return "yes" if holds else "no"


ITEMS: dict[str, tuple[str, Callable[[Any], Iterator[Row]]]] = {
    "1": ("PWWS and the genetic search equal plain sequential references", references),
    "2": ("Every attack meets the contract", contract),
    "3": ("Faster than TextAttack, near the bare model", benchmarks),
    "4": ("Peak memory does not grow with the number of cases", memory),
    "5": ("Killed at random moments, a run resumes and asks nothing twice", kills),
    "6": ("Bad input has its documented outcome", bad_input),
}


if __name__ == "__main__":
    main()
