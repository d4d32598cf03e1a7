"""How fast rules are mined, beside the bare model on the same distinct texts in ideal batches.

    python benchmarks/mining.py [--limit N] [MODEL …]

Both are measured in turns, in the same process, with the same threads. Ideal batches are those of
all distinct encoded texts of the sample, encoded before, sorted by length, in full batches. What is
listed once for all members (tags and synonyms) is not part of a member's time; it stands apart.
Rates are by the clock, and by the seconds of CPU, which other programs on the machine change less.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from brittle.opening import as_target
from brittle.studies.rules.measuring import measure, send_batches
from brittle.studies.rules.mining import Material, load_material
from brittle.training.splits import load_splits
from brittle.zoo.device import cores

MODELS = ("LSTM-W-Random-1", "CNN-W-Random-1", "BiLSTM-W-Random-1", "CNN-C-Random-1")
ROUNDS = 3
OUT = Path(__file__).with_suffix(".json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--data", default="mr")
    parser.add_argument("--limit", type=int, default=2000)
    args = parser.parse_args()
    splits = load_splits(args.data)
    start = time.process_time()
    material = load_material(splits, splits.labels, args.limit)
    listing = time.process_time() - start
    rows = [measure_model(f"zoo:{name}@{args.data}", material) for name in args.models]
    about = {
        "data": args.data,
        "texts": len(material.train.texts),
        "replacements": len(material.train.replacements),
        "listing_cpu_seconds": round(listing, 2),
        "cores": cores(),
        "rounds": ROUNDS,
    }
    OUT.write_text(json.dumps({**about, "models": rows}, indent=1) + "\n")


def measure_model(spec: str, material: Material) -> dict[str, Any]:
    """Measure one model in turns, and return the medians."""
    target: Any = as_target(spec)
    train = material.train
    keys = distinct_keys(target, material)
    computed = 0

    def mine() -> None:
        nonlocal computed
        computed = sum(p.computed for p in measure(target, train.texts, train.replacements))

    def bare() -> None:
        with ThreadPoolExecutor(target.parallel) as pool:
            for _, future in send_batches(keys, target.canonical_logits, pool, target.batch):
                future.result()

    bare()  # what is computed once, such as the vectors of spellings
    seconds = [(timed(bare), timed(mine)) for _ in range(ROUNDS)]
    target.close()
    row: dict[str, Any] = {
        "model": target.name,
        "distinct": len(keys),
        "computed": computed,
        "distinct_share": round(len(keys) / len(train.replacements), 3),
    }
    for number, clock in enumerate(("wall", "cpu")):
        bare_seconds, mine_seconds = (
            statistics.median(part[number] for part in parts) for parts in zip(*seconds)
        )
        row[f"bare_rows_per_{clock}_second"] = round(len(keys) / bare_seconds)
        row[f"mining_rows_per_{clock}_second"] = round(computed / mine_seconds)
        row[f"{clock}_ratio"] = round(
            statistics.median((computed / m[number]) / (len(keys) / b[number]) for b, m in seconds),
            3,
        )
    print(json.dumps(row), flush=True)
    return row


def distinct_keys(target: Any, material: Material) -> list[bytes]:
    """Encode every replaced text by itself; return the distinct keys, originals included."""
    texts, listed = material.train.texts.texts, material.train.replacements
    numbers = dict.fromkeys(target.canonical([texts[n] for n in dict.fromkeys(listed.text)]))
    step = 4096
    for start in range(0, len(listed), step):
        rows = range(start, min(start + step, len(listed)))
        items = [
            texts[listed.text[r]].swap(int(listed.position[r]), listed.forms[listed.form[r]])
            for r in rows
        ]
        numbers.update(dict.fromkeys(target.canonical(items)))
    return list(numbers)


def timed(call: Callable[[], None]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


if __name__ == "__main__":
    main()
