"""A toy language and its translators, which are learnt in seconds."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from brittle import training
from brittle.data import Dataset, Example
from brittle.training.splits import TrainingSplits
from brittle.zoo.names import grid

ENCODERS = ("LSTM", "Transformer")
WORDS = {
    "a": "ein",
    "the": "das",
    "man": "Mann",
    "dog": "Hund",
    "child": "Kind",
    "house": "Haus",
    "walks": "geht",
    "sleeps": "schläft",
    "runs": "läuft",
    "sees": "sieht",
    "red": "rote",
    "old": "alte",
    "today": "heute",
    "here": "hier",
}
NOUNS, VERBS = ("man", "dog", "child", "house"), ("walks", "sleeps", "runs", "sees")


def sentence(random: Random) -> list[str]:
    words = [random.choice(("a", "the")), random.choice(("red", "old", "")), random.choice(NOUNS)]
    words.append(random.choice(VERBS))
    if random.random() < 0.5:
        words += [random.choice(("a", "the")), random.choice(NOUNS)]
    if random.random() < 0.3:
        words.append(random.choice(("today", "here")))
    return [word for word in words if word]


def pairs(count: int, seed: int) -> tuple[Example, ...]:
    random = Random(seed)
    sentences = [sentence(random) for _ in range(count)]
    return tuple(
        Example((("text", " ".join(words) + "."),), " ".join(WORDS[w] for w in words) + ".")
        for words in sentences
    )


def splits(train: int = 200, dev: int = 20) -> TrainingSplits:
    return TrainingSplits(
        "toy", Dataset("toy", "train", pairs(train, 0)), Dataset("toy", "dev", pairs(dev, 1))
    )


def settings(encoder: str, **changed: Any) -> Any:
    return grid.settings(grid.design(f"seq2seq-{encoder}"), "tiny", **changed)


@cache
def trained(encoder: str) -> Path:
    """Train a translator of this encoder, once for all workers; return its folder."""
    changed = settings(encoder, epochs=6, subwords=80, batch_subwords=200)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRITTLE_CACHE", os.environ["BRITTLE_TESTS_CACHE"])
        return training.train_on(
            f"seq2seq-{encoder}", splits(), size="tiny", settings=changed, device="cpu"
        )
