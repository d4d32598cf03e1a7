"""How character vectors begin, how long noise is, and what that does to gradients and errors.

Trains a network on a part of a data set's train split, once for every scale, method and seed
that is named, and adds a row each to a JSON file, which is committed:

    python benchmarks/initialisation.py ../shared/data/ag_news --scales 2 1 0.5 0.2
    python benchmarks/initialisation.py ../shared/data/ag_news --methods miyato,noise=0.03 hotflip

A row that is there already is not computed again. Only the error and the attacks look at the test
split; choose by `dev_error`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import mean
from typing import Any

from brittle.data import Dataset
from brittle.runs.runner import attack
from brittle.studies.transfer.scoring import predict_labels
from brittle.targets.zoo.target import load_folder
from brittle.text import Text
from brittle.training import train_on
from brittle.training.splits import TrainingSplits
from brittle.zoo.folder import load_card
from brittle.zoo.names import grid
from brittle_papers.data import limit_below, load_splits, source_name

MODEL = "CharCNN-LSTM"
RESULTS = Path(__file__).with_suffix(".json")
ATTACKS: dict[str, dict[str, Any]] = {
    "all_edits_0.9": {"confidence": 0.9},
    "flips_0.9": {"kinds": "flip", "confidence": 0.9},
    "flips": {"kinds": "flip"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="a folder with train and test files, or a name such as mr")
    parser.add_argument("--model", default=MODEL, help=f"a network of characters ({MODEL})")
    parser.add_argument("--train", type=int, default=5000, help="texts to train on")
    parser.add_argument("--test", type=int, default=2000, help="texts for the clean error")
    parser.add_argument("--cases", type=int, default=150, help="test texts to attack")
    parser.add_argument("--scales", type=float, nargs="*", help="of the initial vectors")
    parser.add_argument("--methods", nargs="*", default=[], help="of adversarial training")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--epochs", type=int, nargs="*", default=[8])
    parser.add_argument("--attacks", nargs="*", default=list(ATTACKS))
    args = parser.parse_args()
    splits = load_splits(args.data)
    for split, limit in (("train", args.train), ("test", args.test)):
        splits[split] = splits[split].take(limit_below(limit, len(splits[split])))
    default = grid.as_json(grid.settings(grid.design(args.model)))["character_scale"]
    for seed in args.seeds:
        for epochs in args.epochs:
            for scale in args.scales or [default]:
                for method in args.methods or [None]:
                    what = {
                        "model": args.model,
                        "data": source_name(args.data),
                        "train": args.train,
                    }
                    what |= {"scale": scale, "epochs": epochs, "method": method, "seed": seed}
                    compute_row(what, splits, args.attacks, args.cases)
    print_means()


def compute_row(
    what: dict[str, Any], splits: dict[str, Dataset], attacks: list[str], cases: int
) -> None:
    """Train one model, measure it, and add the row, or the attacks that it lacks, to the file."""
    row = next((r for r in load_rows() if what.items() <= r.items()), None) or what
    if all(f"success {name}" in row for name in attacks):
        return
    model, seed = what["model"], what["seed"]
    changed = {"character_scale": what["scale"], "epochs": what["epochs"]}
    settings = grid.settings(grid.design(model), **changed)
    training = TrainingSplits(what["data"], splits["train"], splits["dev"])
    folder = train_on(model, training, seed, settings=settings, adversarial=what["method"])
    card, target = load_card(folder), load_folder(folder)
    test = splits["test"]
    labels = predict_labels(target, [Text.of(dict(example.fields)) for example in test])
    wrong = sum(label != example.label for label, example in zip(labels, test))
    row = row | {"dev_error": round(1 - card.dev_accuracy, 4), **card.gradients}
    row |= {"seconds": card.seconds, "test": len(test), "test_error": round(wrong / len(test), 4)}
    for name in attacks:
        with tempfile.TemporaryDirectory() as runs:
            run = attack(
                load_folder(folder), test, "hotflip", limit=cases, folder=runs, **ATTACKS[name]
            )
            statuses = [result.status for result in run.results()]
        attacked = sum(status in ("broken", "held") for status in statuses)
        row |= {"attacked": attacked}
        row[f"success {name}"] = round(statuses.count("broken") / attacked, 4)
    print(json.dumps(row), flush=True)
    rows = [r for r in load_rows() if not what.items() <= r.items()]
    rows = sorted([*rows, row], key=lambda r: [str(r[key]) for key in what])
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


def print_means() -> None:
    """Print the means over the seeds of each setting, the lowest dev error first."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in load_rows():
        key = tuple(row[name] for name in ("model", "data", "train", "scale", "epochs", "method"))
        groups.setdefault(key, []).append(row)
    for rows in sorted(groups.values(), key=lambda rows: mean(row["dev_error"] for row in rows)):
        measured = [name for name in rows[0] if "error" in name or "success" in name]
        means = {n: mean(row[n] for row in rows) for n in measured if all(n in r for r in rows)}
        setting = " ".join(f"{name} {rows[0][name]}" for name in ("train", "scale", "method"))
        figures = ", ".join(f"{name} {value:.1%}" for name, value in means.items())
        print(f"{rows[0]['model']} {setting}, {len(rows)} seeds: {figures}")


def load_rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(RESULTS.read_text()) if RESULTS.is_file() else []
    return rows


if __name__ == "__main__":
    main()
