"""The words that speak most for a class, learned from labelled text (naive Bayes ratios)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from brittle import data
from brittle.data.catalogue import CATALOGUE
from brittle.data.example import Example
from brittle.errors import UsageError
from brittle.text import words_of


@dataclass(frozen=True)
class StrongWords:
    """How much each word speaks for each class: log φ(w|class), with Laplace smoothing.

    Words are in lower case; classes are the target's, by index.
    """

    words: dict[str, int] = field(repr=False)
    log_share: NDArray[np.float64] = field(repr=False)

    @staticmethod
    def learn(examples: Sequence[Example], labels: Sequence[str]) -> StrongWords:
        """Count the words of the examples whose label is one of the target's."""
        index = {label.lower(): n for n, label in enumerate(labels)}
        counts: list[Counter[str]] = [Counter() for _ in labels]
        for example in examples:
            if example.label is not None and example.label.lower() in index:
                for _, raw in example.fields:
                    counts[index[example.label.lower()]].update(words_of(raw.lower()))
        empty = [label for label, count in zip(labels, counts) if not count]
        if empty:
            raise UsageError(
                f"The examples to learn strong words from hold none of class {empty[0]!r}. "
                f"Expected labelled examples of {', '.join(labels)}; name some with --learn-from."
            )
        # Sorted, so that words of equal strength stand in lexicographic order.
        words = {word: n for n, word in enumerate(sorted(set().union(*counts)))}
        table = np.ones((len(words), len(labels)))
        for column, count in enumerate(counts):
            for word, times in count.items():
                table[words[word], column] += times
        return StrongWords(words, np.log(table / table.sum(axis=0)))

    def strength(self, word: str, toward: int, against: int) -> float:
        """Give log φ(w|toward)/φ(w|against); an unknown word speaks for nobody."""
        row = self.words.get(word.lower())
        if row is None:
            return 0.0
        return float(self.log_share[row, toward] - self.log_share[row, against])

    def strongest(self, toward: int, against: int, count: int) -> list[str]:
        """List the words with the largest ratio, ties in lexicographic order."""
        wanted = (toward, against, count)
        if wanted not in self._ranked:
            ratio = self.log_share[:, toward] - self.log_share[:, against]
            names = list(self.words)
            ranked = np.argsort(-ratio, kind="stable")[:count]
            self._ranked[wanted] = [names[n] for n in ranked]
        return self._ranked[wanted]

    @cached_property
    def _ranked(self) -> dict[tuple[int, int, int], list[str]]:
        return {}


def learned(learn_from: str | None, labels: Sequence[str]) -> StrongWords:
    """Learn from a data set (the train side of one in the catalogue, or a file), once."""
    if learn_from is None:
        raise UsageError(
            "This attack learns its words from labelled data, and the data attacked is not of the "
            "catalogue. Name some with --learn-from, for example --learn-from train.csv."
        )
    return _learned(learn_from, json.dumps(list(labels)))


@lru_cache(maxsize=4)
def _learned(learn_from: str, labels: str) -> StrongWords:
    split = "train" if learn_from in CATALOGUE else None
    return StrongWords.learn(data.load(learn_from, split=split).examples, json.loads(labels))
