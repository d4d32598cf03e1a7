"""Toy targets with raw logits of three classes: sums of drawn weights of words and word pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from brittle.targets.scores import softmax
from brittle.text import Text

LABELS = ("bad", "good", "odd")


def draw(*parts: object) -> float:
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:4], "little") / 2**31 - 1


@dataclass
class Toy:
    """Reads every word with the word before it; `calls` lists the texts of each call."""

    seed: int = 0
    labels: Sequence[str] = LABELS
    calls: list[list[str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"toy {self.seed}"

    @property
    def fingerprint(self) -> str:
        return f"toy {self.seed} {self.labels}"

    def row(self, words: Sequence[Any]) -> list[float]:
        pairs = list(pairwise(("", *map(str, words))))
        return [
            sum(3 * draw(self.seed, z, pair) + draw(self.seed, z, pair[1]) for pair in pairs)
            for z in range(len(self.labels))
        ]

    def logits(self, items: Sequence[Text]) -> Any:
        self.calls.append([str(item) for item in items])
        return np.array([self.row(item.words) for item in items]).reshape(-1, len(self.labels))

    def scores(self, items: Sequence[Text]) -> Any:
        return softmax(self.logits(items))


@dataclass
class KeyedToy(Toy):
    """Knows only some letters of words: texts that it reads alike have one key."""

    batch: int | None = 7
    parallel: int = 2
    computed: list[bytes] = field(default_factory=list)

    def canonical(self, items: Sequence[Text]) -> list[bytes]:
        return [" ".join(str(word)[:2] for word in item.words).encode() for item in items]

    def canonical_logits(self, keys: Sequence[bytes]) -> Any:
        self.computed.extend(keys)
        return np.array([self.row(key.decode().split()) for key in keys]).reshape(
            -1, len(self.labels)
        )

    def logits(self, items: Sequence[Text]) -> Any:
        return self.canonical_logits(self.canonical(items))
