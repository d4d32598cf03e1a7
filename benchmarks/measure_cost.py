"""What it costs to measure similarity and fluency of every step, on MiniLM as the target.

    python benchmarks/measure_cost.py [--texts 80] [--repeats 3]

The same run is made with and without measures, in turn, after one that is not counted; the cost is
the processor time of the run (other processes of the machine do not count).
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import brittle
from brittle.opening import load_zoo

TARGET = "zoo:MiniLM@mr"
PRESETS = ("paper", "careful", "strict")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--texts", type=int, default=80)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("measure_cost.json"))
    args = parser.parse_args()
    target: Any = load_zoo(TARGET)
    seconds(target, 4, "careful", True)  # imports and first calls are not timed
    report = {}
    for preset in PRESETS:
        # Strict candidates need their measures: what they cost is beside careful ones without.
        plain = "careful" if preset == "strict" else preset
        pairs = [
            (seconds(target, args.texts, plain, False), seconds(target, args.texts, preset, True))
            for _ in range(args.repeats)
        ]
        without, measured = (statistics.median(column) for column in zip(*pairs))
        report[preset] = {"without": without, "measured": measured, "cost": measured / without - 1}
        print(f"{preset}: {without:.2f} s, measured {measured:.2f} s", flush=True)
    content = {"target": TARGET, "texts": args.texts, "repeats": args.repeats, "presets": report}
    args.out.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def seconds(target: Any, texts: int, preset: str, measures: bool) -> float:
    """Attack texts of MR; return the processor time."""
    data = brittle.data.load("mr")
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        brittle.attack(
            target,
            data,
            "pwws",
            limit=texts,
            candidates=preset,
            measures=measures,
            folder=folder,
        )
        return time.process_time() - start


if __name__ == "__main__":
    main()
