"""Whole attacks by an earlier version and this one, in turn: seconds, and whether rows are equal.

    python benchmarks/whole_runs.py COMMIT [--what WORDS] [--limit 60] [--repeats 5] [--only pwws]

Both versions are processes that have their models open and have attacked once. They attack the same
MR sentences in turn, a few seconds each, and the first of a pair changes every time: whatever else
the machine does meets both. Models that are missing are trained first. `--what` says what is
different now; whole_runs.json has an entry for each such comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
FREE = {"cosine": 0.0, "same_tag": False, "stop_words": True, "other_lexeme": False}
RUNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "hotflip-words": ("LSTM-W-Random-1", "hotflip-words", FREE | {"words": 2, "beam": 10}),
    "hotflip": ("CharCNN-LSTM", "hotflip", {}),
    "jsma": ("LSTM-W-Random-1", "jsma", {}),
    "pwws": ("LSTM-W-Random-1", "pwws", {"candidates": "paper"}),
    "genetic": (
        "LSTM-W-Random-1",
        "genetic",
        {"candidates": "paper", "population": 20, "generations": 5},
    ),
}
"""By name: the model, the attack and its settings."""
COLUMNS = ("case", "status", "reason", "adversarial", "label", "predicted", "queries")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the earlier version")
    parser.add_argument("--what", default="", help="how this version differs")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=[*RUNS], default=[*RUNS])
    parser.add_argument("--out", type=Path, default=HERE / "whole_runs.json")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(args.limit)
    with tempfile.TemporaryDirectory() as folder:
        former = Path(folder) / "former"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(former), args.commit], check=True)
        try:
            with (
                _version(former / "src", args.limit) as earlier,
                _version(ROOT / "src", args.limit) as now,
            ):
                runs = {name: _compare(name, earlier, now, args.repeats) for name in args.only}
        finally:
            subprocess.run([*git, "remove", "--force", str(former)], check=True)
    report = {"commit": args.commit, "sentences": args.limit, "repeats": args.repeats, "runs": runs}
    reports = json.loads(args.out.read_text()) if args.out.is_file() else {}
    reports[args.what or args.commit] = report
    args.out.write_text(json.dumps(reports, indent=1) + "\n")


def serve(limit: int) -> None:
    """Attack with this process's version, once for every line of the input."""
    import brittle
    import workload
    from brittle.opening import load_zoo

    dataset, targets = workload.sentences(limit), {}
    for line in sys.stdin:
        model, attack, settings = RUNS[line.strip()]
        if model not in targets:
            targets[model] = load_zoo(f"zoo:{model}@mr")
        with tempfile.TemporaryDirectory() as folder:
            began, cpu = time.perf_counter(), time.process_time()
            run = brittle.attack(
                targets[model], dataset, attack, folder=folder, measures=False, **settings
            )
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            rows = [[getattr(row, column) for column in COLUMNS] for row in run.results()]
        print(json.dumps({"seconds": seconds, "cpu": cpu, "rows": rows}), flush=True)


@contextmanager
def _version(source: Path, limit: int) -> Iterator[subprocess.Popen[str]]:
    """Start the version in a source folder."""
    env = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, str(Path(__file__).resolve()), "-", "--serve", "--limit", str(limit)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, text=True)
    try:
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def _attack(version: subprocess.Popen[str], name: str) -> dict[str, Any]:
    assert version.stdin is not None and version.stdout is not None
    version.stdin.write(f"{name}\n")
    version.stdin.flush()
    answer: dict[str, Any] = json.loads(version.stdout.readline())
    return answer


def _compare(name: str, earlier: Any, now: Any, repeats: int) -> dict[str, Any]:
    """Attack with both versions in turn; return medians, and the median of the pairs' ratios."""
    before, after = _attack(earlier, name), _attack(now, name)  # first calls are not timed
    different = sum(one != other for one, other in zip(before["rows"], after["rows"], strict=True))
    pairs = []
    for n in range(repeats):
        if n % 2:
            after, before = _attack(now, name), _attack(earlier, name)
        else:
            before, after = _attack(earlier, name), _attack(now, name)
        pairs.append((before, after))
    row: dict[str, Any] = {"rows": len(before["rows"]), "different_rows": different}
    for what in ("seconds", "cpu"):
        former, present = ([pair[side][what] for pair in pairs] for side in (0, 1))
        row[what] = {
            "former": round(statistics.median(former), 3),
            "now": round(statistics.median(present), 3),
            "least_ratio": round(min(present) / min(former), 3),
            "ratio": round(statistics.median(b / a for a, b in zip(former, present)), 3),
        }
    print(name, json.dumps(row), file=sys.stderr, flush=True)
    return row


if __name__ == "__main__":
    main()
