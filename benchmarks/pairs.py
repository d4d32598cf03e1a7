"""Entailment on SNLI: networks that read each side of a pair, one sequence of both, and MiniLM.

The folder holds dev.csv.gz and test.csv.gz of SNLI (premise, hypothesis, label). Both are joined
and parted by premise: 17,000 pairs to train, 900 to choose the epoch, the rest to test. Every model
is trained once for each seed, and its answers are added to a JSON file, which is committed:

    python benchmarks/pairs.py ../shared/data/snli

Rows that are there already are not computed again, and an interrupted training goes on after its
last epoch. `right` has a 1 for every test pair that is classified as the data says, a 0 for the
others; the comparisons are McNemar's exact tests on these. `exchanged` is the accuracy when premise
and hypothesis change places.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brittle import data
from brittle.data import Dataset, Example
from brittle.metrics.paired import contrast
from brittle.studies.transfer.scoring import predict_labels
from brittle.targets.protocols import Classifies
from brittle.targets.zoo.target import load_folder
from brittle.text import Text
from brittle.training import train_on
from brittle.training.splits import TrainingSplits
from brittle.zoo.folder import load_card
from brittle.zoo.names import grid

RESULTS = Path(__file__).with_suffix(".json")
FIELDS = ("premise", "hypothesis")
TRAIN, DEV = 17_000, 900
MODELS = (
    "Average-W-GloVe-pair-plain",
    "Average-W-GloVe-pair",
    "BiLSTM-W-GloVe-1",
    # with the settings of pair networks, and of other networks
    "BiLSTM-W-GloVe-1?dropout=0.3,word_dropout=0.1,learning_rate=0.002",
    "BiLSTM-W-GloVe-1-pair?dropout=0.6,word_dropout=0.3,learning_rate=0.004",
    "BiLSTM-W-GloVe-1-pair-plain",
    "BiLSTM-W-GloVe-1-pair",
    "MiniLM",
)
COMPARED = (
    ("BiLSTM-W-GloVe-1", "BiLSTM-W-GloVe-1-pair"),
    ("BiLSTM-W-GloVe-1?dropout=0.3,word_dropout=0.1,learning_rate=0.002", "BiLSTM-W-GloVe-1-pair"),
    ("BiLSTM-W-GloVe-1-pair-plain", "BiLSTM-W-GloVe-1-pair"),
    ("Average-W-GloVe-pair", "BiLSTM-W-GloVe-1-pair"),
    ("BiLSTM-W-GloVe-1", "MiniLM"),
    ("BiLSTM-W-GloVe-1-pair", "MiniLM"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snli", type=Path, help="the folder with dev.csv.gz and test.csv.gz")
    parser.add_argument(
        "--models", nargs="*", default=MODELS, help="names of the zoo, settings after a ?"
    )
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--results", type=Path, default=RESULTS, help="the JSON file")
    args = parser.parse_args()
    train, dev, test = part_by_premise(args.snli)
    results = json.loads(args.results.read_text()) if args.results.exists() else {"rows": []}
    results["pairs"] = {part.split: len(part) for part in (train, dev, test)}
    splits = TrainingSplits("snli", train, dev)
    for seed in args.seeds:
        for model in args.models:
            if find(results["rows"], model, seed) is None:
                row = measure(model, seed, splits, test)
                print(model, seed, row["accuracy"], flush=True)
                results["rows"].append(row)
                write(args.results, results)
    print(format_rows(results))


def part_by_premise(folder: Path) -> list[Dataset]:
    """Load the pairs and part them: premises are ranked by a hash, and fill one split each."""
    files = [folder / f"{split}.csv.gz" for split in ("dev", "test")]
    loaded = [data.load(file, text=FIELDS) for file in files]
    by_premise: defaultdict[bytes, list[Example]] = defaultdict(list)
    for example in (example for dataset in loaded for example in dataset):
        plain = " ".join(example.fields[0][1].split()).casefold()
        by_premise[hashlib.sha256(plain.encode()).digest()].append(example)
    parts: list[list[Example]] = [[], [], []]
    for rank in sorted(by_premise):
        part = 0 if len(parts[0]) < TRAIN else 1 if len(parts[1]) < DEV else 2
        parts[part] += by_premise[rank]
    named = zip(("train", "dev", "test"), parts)
    return [Dataset("snli", split, tuple(part), loaded[0].labels) for split, part in named]


def measure(model: str, seed: int, splits: TrainingSplits, test: Dataset) -> dict[str, Any]:
    """Train a model, unless it is trained, and classify the test pairs."""
    name, _, changed = model.partition("?")
    design = grid.design(name)
    settings = grid.parse_settings(design, "default", [s for s in changed.split(",") if s])
    folder = train_on(name, splits, seed, settings=settings)
    target, card = load_folder(folder), load_card(folder)
    right = is_right(target, test.examples)
    exchanged = is_right(target, [exchange(example) for example in test])
    target.close()
    return {
        "model": model,
        "seed": seed,
        "accuracy": round(sum(right) / len(right), 4),
        "exchanged": round(sum(exchanged) / len(exchanged), 4),
        "dev_accuracy": round(card.dev_accuracy, 4),
        "epochs": card.epochs,
        "seconds": round(card.seconds),
        "right": "".join("01"[r] for r in right),
    }


def is_right(target: Classifies, examples: Sequence[Example]) -> list[bool]:
    predicted = predict_labels(target, [Text.of(dict(example.fields)) for example in examples])
    return [label == example.label for label, example in zip(predicted, examples)]


def exchange(example: Example) -> Example:
    (first, premise), (second, hypothesis) = example.fields
    return Example(((first, hypothesis), (second, premise)), example.label)


def find(rows: list[dict[str, Any]], model: str, seed: int) -> dict[str, Any] | None:
    found = [row for row in rows if (row["model"], row["seed"]) == (model, seed)]
    return found[0] if found else None


def write(file: Path, results: dict[str, Any]) -> None:
    """Write the rows, and the comparisons of models that are trained with the same seed."""
    results["comparisons"] = []
    for seed in sorted({row["seed"] for row in results["rows"]}):
        for names in COMPARED:
            rows = [find(results["rows"], name, seed) for name in names]
            if None not in rows:
                outcomes = zip(*([c == "1" for c in row["right"]] for row in rows if row))
                compared = contrast([(a, b) for a, b in outcomes])
                about = {"worse": names[0], "better": names[1], "seed": seed}
                results["comparisons"].append(about | vars(compared))
    file.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


def format_rows(results: dict[str, Any]) -> str:
    head = "| model | seed | accuracy | exchanged | epochs |\n|---|---|---|---|---|"
    columns = ("model", "seed", "accuracy", "exchanged", "epochs")
    lines = [f"| {' | '.join(str(row[name]) for name in columns)} |" for row in results["rows"]]
    tests = [
        f"{c['better']} − {c['worse']}, seed {c['seed']}: {c['difference']:+.3f}, p = {c['p']:.2g}"
        for c in results.get("comparisons", ())
    ]
    return "\n".join([head, *lines, "", *tests])


if __name__ == "__main__":
    main()
