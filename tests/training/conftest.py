"""Data small enough to be learnt in a moment, and a cache for each test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from brittle.data import Dataset, Example
from brittle.training.splits import TrainingSplits

GOOD = ["lovely", "warm", "funny", "great"]
BAD = ["dull", "cold", "awful", "weak"]
OTHER = ["the", "film", "plot", "and", "its", "cast", "is", "with"]


def examples(count: int, seed: int) -> tuple[Example, ...]:
    random = Random(seed)
    out = []
    for n in range(count):
        words = [*random.choices(OTHER, k=random.randint(2, 9)), random.choice((BAD, GOOD)[n % 2])]
        random.shuffle(words)
        out.append(Example((("text", " ".join(words)),), ("negative", "positive")[n % 2]))
    return tuple(out)


Maker = Callable[..., TrainingSplits]


@pytest.fixture
def splits() -> Maker:
    def made(train: int = 48, dev: int = 16, seed: int = 0) -> TrainingSplits:
        labels = ("negative", "positive")
        return TrainingSplits(
            "toy",
            Dataset("toy", "train", examples(train, seed), labels),
            Dataset("toy", "dev", examples(dev, seed + 1000), labels),
        )

    return made


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
