from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.data import Dataset, Example
from brittle.text import Text
from brittle.training import train_on
from brittle.training.linear import platt
from brittle.training.splits import LabelledTexts, TrainingSplits
from brittle.zoo.model import open_model


def dataset(*rows: tuple[str, str], split: str = "train") -> Dataset:
    examples = tuple(Example((("text", text),), label) for text, label in rows)
    return Dataset("toy", split, examples, tuple(sorted({label for _, label in rows})))


def test_naive_bayes_is_the_formula() -> None:
    rows = [("good good film", "pos"), ("bad film", "neg"), ("Bad plot", "neg"), ("so so", "mid")]
    data = dataset(*rows)
    _, model = open_model(train_on("naive-bayes", TrainingSplits("toy", data, data)))
    text = "a good bad good plot"
    [logits] = model.logits(model.encode([Text.of(text)]))
    words = {word for text, _ in rows for word in text.lower().split()}
    for label, got in zip(("mid", "neg", "pos"), logits):
        counts = Counter(w for t, other in rows if other == label for w in t.lower().split())
        total = sum(counts.values()) + len(words)
        # No class prior, although two of the four texts are negative; "a" is unknown.
        expected = sum(log((counts[w] + 1) / total) for w in text.split() if w in words)
        assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["naive-bayes", "linear-svm"])
def test_they_learn(name: str, splits: Any) -> None:
    card, model = open_model(train_on(name, splits(200, 60)))
    assert card.dev_accuracy == 1.0
    keys = model.encode([Text.of("a warm film"), Text.of("dull")])
    assert [int(row.argmax()) for row in model.logits(keys)] == [1, 0]


def test_the_svm_learns_several_classes_and_is_calibrated() -> None:
    words = {"x": ["ball", "team"], "y": ["vote", "law"], "z": ["chip", "code"]}
    rows = [
        (f"the {a} and {b}", k) for k, ws in words.items() for a in ws for b in ws for _ in "12"
    ]
    rows += [("the ball and vote", "x"), ("the vote and chip", "z")]
    data = dataset(*rows)
    card, model = open_model(train_on("linear-svm", TrainingSplits("toy", data, data)))
    assert card.dev_accuracy > 0.9
    # Calibrated: over the dev split, the mean probability of a class is near its share.
    logits = model.logits(model.encode([Text.of(text) for text, _ in rows]))
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=1)[:, None])
    share = [sum(label == k for _, label in rows) / len(rows) for k in words]
    assert np.abs(p.mean(axis=0) - share).max() < 0.05


def test_platt_finds_the_least_loss() -> None:
    rng = np.random.default_rng(0)
    label = tuple(int(i) for i in rng.integers(0, 2, 400))
    margin = np.stack([-np.array(label), np.array(label)], axis=1) + rng.normal(0, 1, (400, 2))
    scale, offset = platt(margin, LabelledTexts((Text.of("x"),) * 400, label))

    def loss(a: float, c: float) -> float:
        z = a * (margin[:, 1] - margin[:, 0]) + c
        n = np.bincount(label)
        t = np.where(np.array(label) == 1, (n[1] + 1) / (n[1] + 2), 1 / (n[0] + 2))
        return float((np.logaddexp(0, z) - t * z).sum())

    a, c = scale, float(offset[1] - offset[0])
    near = [loss(a + da, c + dc) for da in (-0.01, 0, 0.01) for dc in (-0.01, 0, 0.01)]
    assert min(near) == loss(a, c)


def test_platt_survives_a_split_that_is_all_right_or_all_wrong() -> None:
    label = (0, 1) * 20
    margin = np.array([[1.0, -1.0], [-1.0, 1.0]] * 20)
    dev = LabelledTexts((Text.of("x"),) * 40, label)
    scale, _ = platt(margin, dev)
    assert 0.5 < scale < 20
    assert platt(-margin, dev)[0] > 0


def test_svm_is_reproducible_and_depends_on_the_seed(splits: Any, tmp_path: Path) -> None:
    first = train_on("linear-svm", splits(), 1)
    before = (first / "model.safetensors").read_bytes()
    assert train_on("linear-svm", splits(), 1, new=True) == first
    assert (first / "model.safetensors").read_bytes() == before
    other = train_on("linear-svm", splits(), 2)
    assert (other / "model.safetensors").read_bytes() != before
