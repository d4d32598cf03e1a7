"""Measure the peak memory of a run of many cases against that of a run of few.

    python benchmarks/memory.py [--few 100] [--many 10000] [--most 100] [--json FILE]

`brittle attack zoo:naive-bayes@mr pwws` runs on the first cases of one CSV file, each time in a
process of its own. Exits with 1 if many cases need more than `--most` MB beyond what few need.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

import brittle
from brittle import data

TARGET = "zoo:naive-bayes@mr"


def main() -> int:
    """Measure both runs, print what was found, and say by the exit code whether it holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--few", type=int, default=100)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--most", type=float, default=100.0, metavar="MB")
    parser.add_argument("--json", metavar="FILE", help="also write what was measured as JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="brittle-memory-") as folder:
        table = Path(folder) / "reviews.csv"
        write_reviews(table, args.many)
        # One run beforehand, so that neither of those measured trains the model.
        measured(table, 1, folder)
        runs = [measured(table, count, folder) for count in (args.few, args.many)]
    difference = runs[1]["peak_mb"] - runs[0]["peak_mb"]
    found = {"runs": runs, "difference_mb": round(difference, 1), "most_mb": args.most}
    for run in runs:
        print(
            f"{run['cases']:>6} cases: peak {run['peak_mb']:.1f} MB, {run['rows']} rows in "
            f"{run['seconds']:.1f} s ({run['rows_per_second']:.0f} rows/s)"
        )
    print(f"difference: {difference:.1f} MB (at most {args.most:g})")
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=2) + "\n")
    return 0 if difference <= args.most else 1


def write_reviews(path: Path, count: int) -> None:
    """Write so many different labelled sentences: those of MR, then variations of them."""
    rng = Random("reviews")
    known = [e for split in ("train", "dev", "test") for e in data.load("mr", split=split)]
    rows = [(dict(e.fields)["text"], str(e.label)) for e in known]
    seen = {text for text, _ in rows}
    while len(rows) < count:
        text, label = rows[rng.randrange(len(known))]
        other = rows[rng.randrange(len(known))][0].split()
        words = text.split()
        words.insert(rng.randint(0, len(words)), rng.choice(other))
        varied = " ".join(words)
        if varied not in seen:
            seen.add(varied)
            rows.append((varied, label))
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows])


def measured(table: Path, cases: int, folder: str) -> dict[str, Any]:
    """Attack so many cases in a process of its own; give its peak memory and its rows."""
    name = f"cases-{cases}"
    argv = [sys.executable, "-m", "brittle.cli", "attack", TARGET, "pwws", "--data", str(table)]
    argv += ["--candidates", "paper", "--no-measures"]
    argv += ["--limit", str(cases), "--runs", folder, "--name", name]
    start = time.perf_counter()
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        # wait4 gives the peak of this one process, where getrusage knows only that of them all.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = time.perf_counter() - start
    run = brittle.open_run(name, folder)
    if process.returncode != 0 or len(run.results()) != cases:
        raise RuntimeError(f"the run of {cases} cases ended with {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    sent = int(run.totals["sent"])
    return {
        "cases": cases,
        "peak_mb": usage.ru_maxrss * unit / 2**20,
        "seconds": round(took, 2),
        "rows": sent,
        "rows_per_second": round(sent / took, 1),
    }


if __name__ == "__main__":
    sys.exit(main())
