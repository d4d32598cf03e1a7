"""Two workers beside one process: equal rows, and the rate of the same attack.

    python benchmarks/workers.py [--scale 1.0] [--repeats 3] [--targets one-core,MiniLM]

Every target is attacked by one process and by two workers in turn, on two cores, by pwws on MR
sentences of the train split. `ratio` is the rate of two workers, in cases a second, divided by that
of one process, the best of the repeats of each. A rate is counted from when a fifth of the cases
has ended: until then processes start, and load models and word tables. `with_start` is the same
ratio for the whole call: short runs gain nothing. `one-core` is a pure Python function: it holds
one core in any batch.
"""

from __future__ import annotations

import argparse
import json
import os
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
CASES = {
    "one-core": 1000,
    "naive-bayes": 2000,
    "LSTM-W-Random-1": 2000,
    "CharCNN-LSTM": 400,
    "MiniLM": 100,
}
SHARE_TO_START = 0.2
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


def attack(spec: str, cases: int, workers: int, folder: Path) -> tuple[list[Any], float, float]:
    """Attack a target; return its rows, its rate once all have started, and the rate of it all."""
    ends: list[tuple[float, int]] = []

    def note(progress: RunProgress) -> None:
        ends.append((time.perf_counter(), progress.done))

    data = brittle.data.load("mr", split="train")
    options: dict[str, Any] = {"limit": cases, "folder": folder, "name": f"w{workers}"}
    options |= {"candidates": "paper", "measures": False}
    start = time.perf_counter()
    run = brittle.attack(spec, data, "pwws", workers=workers, new=True, progress=note, **options)
    whole = cases / (time.perf_counter() - start)
    first, done = next(end for end in ends if end[1] >= SHARE_TO_START * cases)
    rate = (cases - done) / (ends[-1][0] - first)
    return [astuple(row) for row in run.results()], rate, whole


def measure(spec: str, cases: int, repeats: int, folder: Path) -> dict[str, Any]:
    """Measure one process and two workers in turn."""
    rates: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    rows: dict[int, list[Any]] = {}
    for _ in range(repeats):
        for workers in (1, 2):
            rows[workers], *found = attack(spec, cases, workers, folder)
            rates[workers].append((found[0], found[1]))
    best = {workers: [max(column) for column in zip(*pairs)] for workers, pairs in rates.items()}
    return {
        "ratio": round(best[2][0] / best[1][0], 2),
        "with_start": round(best[2][1] / best[1][1], 2),
        "one_process_cases_per_second": round(best[1][0], 1),
        "two_workers_cases_per_second": round(best[2][0], 1),
        "cases": cases,
        "equal_rows": rows[1] == rows[2],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of cases")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--out", type=Path, default=HERE / "workers.json")
    args = parser.parse_args()
    report: dict[str, Any] = {"cores": cores(), "scale": args.scale, "repeats": args.repeats}
    report["load_before"] = round(os.getloadavg()[0], 1)
    report["targets"] = {}
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        Path("one_core.py").write_text(ONE_CORE)
        for target in args.targets.split(","):
            cases = max(10, round(args.scale * CASES[target]))
            found = measure(TARGETS[target], cases, args.repeats, Path(name))
            found["least"] = LEAST_RATIO.get(target, LEAST_RATIO_OF_OTHERS)
            report["targets"][target] = found
            print(target, json.dumps(found), flush=True)
    report["load_after"] = round(os.getloadavg()[0], 1)
    args.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
