"""Fakes for testing attacks and engines without a model.

>>> from brittle.text import Text
>>> fake = FakeTarget({"good": 2.0, "bad": -2.0})
>>> fake.scores([Text.of("a good film")]).round(3).tolist()
[[0.119, 0.881]]
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from brittle.text import Text


@dataclass
class FakeTarget:
    """A linear model over words, with weights given or, for unlisted words, drawn by their hash.

    A hole weighs nothing. With more than two labels every label but the first has weights of its
    own. `calls` lists how many texts each call brought.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    labels: Sequence[str] = ("negative", "positive")
    spread: float = 0.0
    name: str = "fake"
    calls: list[int] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        content = repr((sorted(self.weights.items()), tuple(self.labels), self.spread))
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def scores(self, items: Sequence[Text]) -> NDArray[np.float64]:
        self.calls.append(len(items))
        logit = np.zeros((len(items), len(self.labels)))
        for row, text in enumerate(items):
            for column in range(1, len(self.labels)):
                logit[row, column] = sum(
                    self._weight(word.lower(), column)
                    for _, words in text.field_words()
                    for word in words
                    if isinstance(word, str)
                )
        shifted = np.exp(logit - logit.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def _weight(self, word: str, column: int) -> float:
        if word in self.weights and column == 1:
            return self.weights[word]
        drawn = hashlib.sha256(f"{column}:{word}".encode()).digest()
        return self.spread * (int.from_bytes(drawn[:4], "big") / 2**31 - 1.0)
