"""Two workers beside one process: equal rows, and the time of the same attack.

    python benchmarks/workers.py [--cases 300] [--repeats 3] [--targets one-core,MiniLM]

Every target is attacked by one process and by two workers in turn, on two cores, by pwws on the
first MR sentences. `ratio` is the time of one process divided by that of two workers, the best of
the repeats of each. The time is counted from the first finished case to the last one, so that
neither the start of processes nor the loading of a model counts; `with_start` is the same ratio for
the whole command, and `processor` that of the processor time of all processes, which other programs
on the machine disturb less. `one-core` is a pure Python function: it holds one core in any batch.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from dataclasses import astuple
from pathlib import Path
from typing import Any

import brittle
from brittle.runs.runner import RunProgress
from brittle.zoo.device import cores

HERE = Path(__file__).parent
TARGETS = {
    "one-core": "python:one_core:classify",
    "naive-bayes": "zoo:naive-bayes@mr",
    "LSTM-W-Random-1": "zoo:LSTM-W-Random-1@mr",
    "CharCNN-LSTM": "zoo:CharCNN-LSTM@mr",
    "MiniLM": "zoo:MiniLM@mr",
}
LEAST_RATIO = {"one-core": 1.7}
LEAST_RATIO_OF_OTHERS = 0.95
ONE_CORE = """
import zlib

def classify(texts):
    rows = []
    for text in texts:
        score = 0.0
        for _ in range(20):
            for word in text.lower().split():
                score += zlib.crc32(word.encode()) % 2001 - 1000
        share = 1 / (1 + 2.718281828 ** (-score / 40_000))
        rows.append([1 - share, share])
    return rows

classify.labels = ["negative", "positive"]
"""


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def attack(spec: str, cases: int, workers: int, folder: Path) -> tuple[list[Any], list[float]]:
    """Attack a target; return its rows and three times in seconds.

    They are the time from the first case to the last, all of it, and the processor time.
    """
    ends: list[tuple[float, int]] = []

    def note(progress: RunProgress) -> None:
        ends.append((time.perf_counter(), progress.done))

    options: dict[str, Any] = {"limit": cases, "folder": folder, "name": f"w{workers}"}
    start, processor = time.perf_counter(), processor_seconds()
    run = brittle.attack(spec, "mr", "pwws", workers=workers, new=True, progress=note, **options)
    seconds, processor = time.perf_counter() - start, processor_seconds() - processor
    (first, done), (last, planned) = ends[0], ends[-1]
    # What ended before the first report took time that is not known.
    share = planned / max(1, planned - done)
    rows = [astuple(row) for row in run.results()]
    return rows, [(last - first) * share, seconds, processor]


def measure(spec: str, cases: int, repeats: int, folder: Path) -> dict[str, Any]:
    """Measure one process and two workers in turn."""
    times: dict[int, list[list[float]]] = {1: [], 2: []}
    rows: dict[int, list[Any]] = {}
    for _ in range(repeats):
        for workers in (1, 2):
            rows[workers], seconds = attack(spec, cases, workers, folder)
            times[workers].append(seconds)
    best = {workers: [min(column) for column in zip(*pairs)] for workers, pairs in times.items()}
    return {
        "ratio": round(best[1][0] / best[2][0], 2),
        "with_start": round(best[1][1] / best[2][1], 2),
        "processor": round(best[1][2] / best[2][2], 2),
        "one_process_seconds": round(best[1][0], 2),
        "two_workers_seconds": round(best[2][0], 2),
        "equal_rows": rows[1] == rows[2],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--out", type=Path, default=HERE / "workers.json")
    args = parser.parse_args()
    report: dict[str, Any] = {"cores": cores(), "cases": args.cases, "repeats": args.repeats}
    report["load_before"] = round(os.getloadavg()[0], 1)
    report["targets"] = {}
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        Path("one_core.py").write_text(ONE_CORE)
        for target in args.targets.split(","):
            found = measure(TARGETS[target], args.cases, args.repeats, Path(name))
            found["least"] = LEAST_RATIO.get(target, LEAST_RATIO_OF_OTHERS)
            report["targets"][target] = found
            print(target, json.dumps(found), flush=True)
    report["load_after"] = round(os.getloadavg()[0], 1)
    args.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
