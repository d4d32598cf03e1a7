"""Texts of the news train file that a model has right with little to spare, for blind reading.

    python benchmarks/close_texts.py TRAIN TEST --out FOLDER

Gentle edits break few pieces of news, and the texts of the test file have been attacked before. So
the two models are trained on TEST, and of TRAIN those texts are kept which TEST does not have, and
which the model has right while its two best scores are close. They are written to
FOLDER/MODEL/ag_news/held.csv.gz, which `ladder.py run --data` and then `ladder.py sheet` take.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from pathlib import Path

import numpy as np

import brittle
from ladder import on_words

LARGEST_GAP = {"TF-IDF": 0.2, "counts": 0.85}
"""Between the two best scores of a text, by model."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    attacked = {example.fields[0][1] for example in brittle.data.load(args.test).examples}
    examples = brittle.data.load(args.train).examples
    rows = dict.fromkeys((example.fields[0][1], example.label) for example in examples)
    fresh = [(text, label) for text, label in rows if text not in attacked]
    for name, largest in LARGEST_GAP.items():
        model = on_words(name, args.test)
        scores = model.predict_proba([text for text, _ in fresh])
        best = np.sort(scores, axis=1)[:, -2:]
        is_right = model.classes_[scores.argmax(axis=1)] == [label for _, label in fresh]
        is_close = best[:, 1] - best[:, 0] < largest
        path = args.out / name / "ag_news" / "held.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            writer.writerows(fresh[index] for index in np.flatnonzero(is_right & is_close))
        print(f"{name}: {(is_right & is_close).sum():,} of {len(fresh):,} texts in {path}")


if __name__ == "__main__":
    main()
