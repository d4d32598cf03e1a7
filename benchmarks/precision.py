"""MiniLM in float32 against bf16: rows per CPU second, and success; writes precision.json.

Both are of the same run, on the same texts, in turns, and CPU seconds are counted: other processes
of the machine change them little. The encoder is MiniLM as it is shipped; its head is fitted here
on a part of the train split, so the figures of success are those of this model alone.

    python benchmarks/precision.py [--rows 512] [--rounds 5] [--texts 40]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
import transformers

import brittle
from brittle.data import load
from brittle.metrics.summary import summary
from brittle.safety.files import versions
from brittle.targets.transformers.classifier import SequenceClassifier, of_model
from brittle.text import Text
from brittle.training.transformer import load_encoder
from brittle.zoo.names.settings import FineTuningSettings

FITTED_ON = 800
STEPS = 300
PRECISIONS = ("float32", "bf16")


def fitted() -> SequenceClassifier:
    """Fit a head on the vectors of MiniLM, which stays as it is; return it as a target."""
    torch.manual_seed(0)
    labels = ("negative", "positive")
    model, tokenizer = load_encoder(transformers, FineTuningSettings(), labels)
    target = of_model(model.eval(), tokenizer, name="MiniLM with a head", device="cpu")
    assert target.fast is not None
    examples = load("mr", split="train").take(FITTED_ON, 0).examples
    keys = target.canonical([Text.of(dict(example.fields)) for example in examples])
    pooled = torch.zeros(len(keys), model.config.hidden_size)
    for rows, arrays in target.tokenizer.batches(keys, 4096, False):
        pooled[rows] = target.fast.pooled_and_logits(arrays)[0].clone()
    gold = torch.tensor([labels.index(str(example.label)) for example in examples])
    optimizer = torch.optim.Adam(model.classifier.parameters(), 1e-2)
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model.classifier(pooled), gold).backward()
        optimizer.step()
    return target


def rates(target: SequenceClassifier, rows: int, rounds: int) -> dict[str, Any]:
    """Score the same texts in turns; return rows per CPU second, and the largest difference."""
    examples = load("mr", split="test").take(rows, 1).examples
    keys = target.canonical([Text.of(dict(example.fields)) for example in examples])
    targets = {precision: target.lowered(precision) for precision in PRECISIONS}
    scores = {name: one.candidate_scores(keys) for name, one in targets.items()}  # warmed up
    seconds: dict[str, list[float]] = {name: [] for name in targets}
    for n in range(rounds):
        for name in PRECISIONS if n % 2 else PRECISIONS[::-1]:
            start = time.process_time()
            targets[name].candidate_scores(keys)
            seconds[name].append(time.process_time() - start)
    per_second = {name: len(keys) / median(times) for name, times in seconds.items()}
    return {
        "rows": len(keys),
        "rounds": rounds,
        "rows_per_cpu_second": {name: round(rate, 1) for name, rate in per_second.items()},
        "ratio": round(per_second["bf16"] / per_second["float32"], 2),
        "largest_difference": round(float(np.abs(scores["float32"] - scores["bf16"]).max()), 4),
        "other_labels": int((scores["float32"].argmax(1) != scores["bf16"].argmax(1)).sum()),
    }


def attacks(target: SequenceClassifier, texts: int, folder: Path) -> dict[str, Any]:
    """Attack the same texts in both precisions; return success, endings and CPU seconds."""
    data = load("mr", split="test")
    table: dict[str, Any] = {}
    for precision in PRECISIONS:
        start = time.process_time()
        run = brittle.attack(
            target.lowered(precision), data, "pwws", limit=texts, folder=folder, measures="none"
        )
        seconds = time.process_time() - start
        figure = summary(run.results(), texts).success
        table[precision] = {
            "broken": figure.count,
            "attacked": figure.of,
            "unconfirmed": run.counts().get("unconfirmed", 0),
            "rows": int(run.totals["sent"]),
            "cpu_seconds": round(seconds, 1),
        }
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("rows", 512), ("rounds", 5), ("texts", 40)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    target = fitted()
    with tempfile.TemporaryDirectory() as folder:
        content = {
            "threads": torch.get_num_threads(),
            "scoring": rates(target, args.rows, args.rounds),
            "pwws": attacks(target, args.texts, Path(folder)),
            "versions": versions("brittle", "torch", "transformers"),
        }
    text = json.dumps(content, indent=1) + "\n"
    Path(__file__).with_suffix(".json").write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
