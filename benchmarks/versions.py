"""This version beside an earlier one: equal rows, and the engine's own cost per text asked.

    python benchmarks/versions.py COMMIT [--out benchmarks/versions.json] [--attacks pwws,auto]
        [--repeats 0]

Both versions attack the same 100 held-out texts with every attack of `ROWS`, in processes of their
own on one core. Then they run `ATTACKS` in turn, several times. All answers are known beforehand
(the target replays them), so that what is timed is the engine: processor time divided by the texts
asked.

A later version opens the models of an earlier one, but not the other way round: where the cards of
models have changed since, let the earlier version train them in a cache of its own (BRITTLE_CACHE).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
MODEL = "LSTM-W-Random-1@mr"
ATTACKS = ("pwws", "genetic")
BAYES = "naive-bayes@mr"
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "pwws": (MODEL, {}),
    "genetic": (MODEL, {}),
    "gs-gr": (MODEL, {}),
    "jsma": (MODEL, {}),
    "hotflip-words": (MODEL, {}),
    "hotflip": ("CharCNN-LSTM@mr?size=tiny", {}),
    "random-swap": (MODEL, {}),
    "salient-swap": (MODEL, {}),
    "natural": (BAYES, {"generator": "ARAE@imdb"}),
    "auto": (BAYES, {}),
}
"""The model of each attack whose rows are compared, and settings."""
ROW = ("case", "status", "reason", "adversarial", "label", "predicted", "queries", "words_changed")
TEXTS = 100
REPLAYS = 7
"""The least of so many counts: the others were disturbed by whatever else ran on the machine."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the earlier version")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=HERE / "versions.json")
    parser.add_argument("--attacks", default=",".join(ROWS), help="whose rows are compared")
    parser.add_argument("--measure", choices=("rows", "cost"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    names = args.attacks.split(",")
    if args.measure:
        print(json.dumps(rows_of(names) if args.measure == "rows" else costs()))
        return
    with tempfile.TemporaryDirectory() as folder:
        former = Path(folder) / "former"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(former), args.commit], check=True)
        sides = (former / "src", ROOT / "src")
        try:
            rows = [measured_in(side, "rows", args.attacks) for side in sides]
            pairs = [
                [measured_in(side, "cost", args.attacks) for side in sides]
                for _ in range(args.repeats)
            ]
        finally:
            subprocess.run([*git, "remove", "--force", str(former)], check=True)
    report: dict[str, Any] = {
        "commit": args.commit,
        "repeats": args.repeats,
        "rows": compare_rows(*rows),
    }
    report["equal_rows"] = {name: not row["different"] for name, row in report["rows"].items()}
    if pairs:
        report["microseconds_per_text_asked"] = compare_costs(pairs)
    args.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def measured_in(source: Path, what: str, attacks: str) -> dict[str, Any]:
    """Measure the version in a source folder, in a process of its own."""
    env = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    env |= {"BRITTLE_MEASURES": ""}
    command = [sys.executable, str(Path(__file__).resolve()), "-", "--measure", what]
    command += ["--attacks", attacks]
    run = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(run.stdout))


def rows_of(names: list[str]) -> dict[str, Any]:
    """Attack with this process's version; return the rows of each attack."""
    import brittle
    from brittle import data
    from brittle.opening import load_zoo

    found = {}
    for name in names:
        model, settings = ROWS[name]
        dataset = data.load(model.partition("@")[2].partition("?")[0], limit=TEXTS)
        target = load_zoo(f"zoo:{model}")
        with tempfile.TemporaryDirectory() as folder:
            run = brittle.attack(target, dataset, name, folder=folder, batch=256, **settings)
            found[name] = [[getattr(row, key) for key in ROW] for row in run.results()]
    return found


def costs() -> dict[str, float]:
    """Return the microseconds per text asked of this process's version, by attack."""
    import brittle
    import ours
    from brittle import data
    from brittle.opening import load_zoo

    dataset = data.load("mr", limit=TEXTS)
    found = {}
    for name in ATTACKS:
        with tempfile.TemporaryDirectory() as folder:
            recorded: Any = ours.Recorded(load_zoo(f"zoo:{MODEL}"))
            brittle.attack(recorded, dataset, name, folder=folder, batch=256)
            found[name] = min(replay(recorded, dataset, name, folder) for _ in range(REPLAYS))
    return found


def replay(recorded: Any, dataset: Any, name: str, folder: str) -> float:
    """Attack a target whose answers are known; return microseconds per text asked."""
    import time

    import brittle
    import ours

    target = ours.Replayed(recorded)
    start = time.process_time()
    run = brittle.attack(target, dataset, name, folder=folder, name="again", batch=256, new=True)
    return 1e6 * (time.process_time() - start) / float(run.totals["asked"])


def compare_rows(former: dict[str, Any], now: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Count the rows of each attack, and those that differ."""
    return {
        name: {
            "model": ROWS[name][0],
            "rows": len(rows),
            "broken": sum(row[1] == "broken" for row in rows),
            "different": sum(a != b for a, b in zip_longest(former[name], rows)),
        }
        for name, rows in now.items()
    }


def compare_costs(pairs: list[list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Return the median cost of both versions by attack, and their ratio."""
    cost = {}
    for name in ATTACKS:
        former, now = (statistics.median(pair[side][name] for pair in pairs) for side in (0, 1))
        cost[name] = {"former": former, "now": now, "ratio": now / former}
    return cost


if __name__ == "__main__":
    main()
