"""This version beside an earlier one: equal rows, and the engine's own cost per text asked.

    python benchmarks/versions.py COMMIT [--out benchmarks/versions.json]

Both versions attack the same 100 MR sentences on the same models, in turn, several times, in
processes of their own on one core. All answers are known beforehand (the target replays them), so
that what is timed is the engine: processor time divided by the texts asked.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
MODEL = "LSTM-W-Random-1"
ATTACKS = ("pwws", "genetic")
ROW = ("case", "status", "reason", "adversarial", "label", "predicted", "queries", "words_changed")
REPLAYS = 7
"""The least of so many counts: the others were disturbed by whatever else ran on the machine."""
ROWS_ONLY = ("random-swap", "hotflip-words", "salient-swap")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the earlier version")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=HERE / "versions.json")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure()))
        return
    with tempfile.TemporaryDirectory() as folder:
        former = Path(folder) / "former"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(former), args.commit], check=True)
        try:
            pairs = [
                (measured_in(former / "src"), measured_in(ROOT / "src"))
                for _ in range(args.repeats)
            ]
        finally:
            subprocess.run([*git, "remove", "--force", str(former)], check=True)
    report = {"commit": args.commit, "repeats": args.repeats} | compare(pairs)
    args.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def measured_in(source: Path) -> dict[str, Any]:
    """Measure the version in a source folder, in a process of its own."""
    env = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    env |= {"BRITTLE_MEASURES": ""}
    command = [sys.executable, str(Path(__file__).resolve()), "-", "--measure"]
    run = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(run.stdout))


def measure() -> dict[str, Any]:
    """Attack with this process's version; return rows, and seconds and texts per attack."""
    import brittle
    import ours
    import workload
    from brittle.opening import load_zoo

    target = load_zoo(f"zoo:{MODEL}@mr")
    dataset = workload.sentences(100)
    report: dict[str, Any] = {"rows": {}, "microseconds": {}}
    for name in (*ATTACKS, *ROWS_ONLY):
        with tempfile.TemporaryDirectory() as folder:
            recorded: Any = ours.Recorded(target) if name in ATTACKS else target
            settings = published(name)
            run = brittle.attack(recorded, dataset, name, folder=folder, batch=256, **settings)
            rows = [[getattr(row, key) for key in ROW] for row in run.results()]
            report["rows"][name] = rows
            if name in ATTACKS:
                report["microseconds"][name] = min(
                    replay(recorded, dataset, name, folder) for _ in range(REPLAYS)
                )
    return report


def published(name: str) -> dict[str, Any]:
    """Return the settings for published candidates; versions without presets have no others."""
    try:
        from brittle.attacks.stored_settings import as_published
    except ImportError:
        return {}
    return as_published(name, {})


def replay(recorded: Any, dataset: Any, name: str, folder: str) -> float:
    """Attack a target whose answers are known; return microseconds per text asked."""
    import time

    import brittle
    import ours

    target = ours.Replayed(recorded)
    start = time.process_time()
    options = {"folder": folder, "name": "again", "batch": 256, "new": True} | published(name)
    run = brittle.attack(target, dataset, name, **options)
    return 1e6 * (time.process_time() - start) / float(run.totals["asked"])


def compare(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    """Compare what both versions gave: rows, and medians of the cost with their ratio."""
    former, now = pairs[0]
    equal = {name: former["rows"][name] == now["rows"][name] for name in now["rows"]}
    cost = {}
    for name in ATTACKS:
        before, after = (
            statistics.median(pair[side]["microseconds"][name] for pair in pairs) for side in (0, 1)
        )
        cost[name] = {"former": before, "now": after, "ratio": after / before}
    return {"equal_rows": equal, "microseconds_per_text_asked": cost}


if __name__ == "__main__":
    main()
