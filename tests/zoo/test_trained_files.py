"""What trained models are kept under: names of tensors and keys of the cache stay as they are.

A model that was trained by an earlier version is found and loaded by this one; a changed name here
means that every user trains again.
"""

from __future__ import annotations

import pytest

from brittle.data import Dataset, Example
from brittle.training.adversarial.parsing import parse_method
from brittle.training.plan import TrainingPlan
from brittle.training.splits import TrainingSplits
from brittle.zoo.names import grid

LSTM_TENSORS = ("bias_hh_l0", "bias_ih_l0", "weight_hh_l0", "weight_ih_l0")
LINEAR_TENSORS = ("bias", "weight")
CHARACTERS = {
    "spelling.embedding": ("weight",),
    "spelling.convolution": LINEAR_TENSORS,
    "spelling.highways.0.gate": LINEAR_TENSORS,
    "spelling.highways.0.transform": LINEAR_TENSORS,
}
WORDS = {"embedding": ("weight",)}
LAYER = ("first", "second", "seen", "out", "widen", "narrow")
TENSORS = {
    "LSTM-W-Random-2": WORDS | {f"encoder.layers.{n}": LSTM_TENSORS for n in range(2)},
    "BiLSTM-WC-Random-1-attention": WORDS
    | CHARACTERS
    | {"encoder.ahead.0": LSTM_TENSORS, "encoder.back.0": LSTM_TENSORS}
    | {"pool.project": LINEAR_TENSORS, "pool.ask": ("weight",)},
    "CNN-C-Random-2": CHARACTERS
    | {"encoder.below.0": LINEAR_TENSORS}
    | {f"encoder.convolutions.{n}": LINEAR_TENSORS for n in range(3)},
    "Transformer-W-Random-1": WORDS
    | {"encoder.enter": LINEAR_TENSORS, "encoder.places": ("weight",)}
    | {f"encoder.layers.0.{part}": LINEAR_TENSORS for part in LAYER},
}


@pytest.mark.parametrize("name", TENSORS)
def test_the_names_of_tensors(name: str) -> None:
    pytest.importorskip("torch")
    from brittle.zoo.networks import build

    design = grid.design(name)
    network = build(design.parts, grid.settings(design, "tiny"), 9, 9, 2)  # type: ignore[arg-type]
    parts = TENSORS[name] | {"head": LINEAR_TENSORS}
    expected = {f"{part}.{tensor}" for part, tensors in parts.items() for tensor in tensors}
    assert set(network.state_dict()) == expected


@pytest.mark.parametrize(
    ("name", "method", "key"),
    [
        ("naive-bayes", None, "9de1a0ba6d5f"),
        ("CharCNN-LSTM", None, "e1ecc3dcea1d"),
        ("LSTM-W-GloVe-1", None, "5015fad14bbe"),
        ("LSTM-W-Random-1", "hotflip", "cf2783c2d298"),
        ("LSTM-W-Random-1", "key-any,copies=50", "137afd5b5f46"),
    ],
)
def test_the_keys_of_the_cache(name: str, method: str | None, key: str) -> None:
    examples = (Example.of("good", "pos"), Example.of("bad", "neg"))
    splits = TrainingSplits(
        "toy",
        Dataset("toy", "train", examples, ("neg", "pos")),
        Dataset("toy", "dev", examples, ("neg", "pos")),
    )
    design = grid.design(name)
    trained = None if method is None else parse_method(method)
    plan = TrainingPlan(design, grid.settings(design), "default", 3, splits, trained)
    assert plan.key[:12] == key
