"""The words that speak most for a class, learned from labelled text (naive Bayes ratios)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from brittle.candidates.training_data import find_class
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
    def learn(
        examples: Sequence[Example],
        labels: Sequence[str],
        label_map: Mapping[str, str] | None = None,
    ) -> StrongWords:
        """Learn from the words of the examples whose label is one of the target's."""
        counts: list[Counter[str]] = [Counter() for _ in labels]
        classes: dict[str, int | None] = {}
        for example in examples:
            if example.label is None:
                continue
            if example.label not in classes:
                classes[example.label] = find_class(example.label, labels, label_map)
            column = classes[example.label]
            if column is not None:
                for _, raw in example.fields:
                    counts[column].update(words_of(raw.lower()))
        empty = [label for label, count in zip(labels, counts) if not count]
        if empty:
            raise UsageError(
                "The examples to learn strong words from contain none of class "
                f"{empty[0]!r}. Expected labelled examples of {', '.join(labels)}; got "
                f"the labels {', '.join(sorted(classes)) or 'none'}. Name other data with "
                "--learn-from, or say which label is which with --labels DATA=TARGET,…"
            )
        # Sorted, so that words of equal strength stand in lexicographic order.
        words = {word: n for n, word in enumerate(sorted(set().union(*counts)))}
        table = np.ones((len(words), len(labels)))
        for column, count in enumerate(counts):
            for word, times in count.items():
                table[words[word], column] += times
        return StrongWords(words, np.log(table / table.sum(axis=0)))

    def strength(self, word: str, toward: int, against: int) -> float:
        """Return log φ(w|toward)/φ(w|against); an unknown word speaks for no class."""
        row = self.words.get(word.lower())
        if row is None:
            return 0.0
        return float(self.log_share[row, toward] - self.log_share[row, against])

    def strongest(self, toward: int, against: int, count: int) -> list[str]:
        """List the words with the largest ratio, ties in lexicographic order."""
        request = (toward, against, count)
        if request not in self._ranked:
            ratio = self.log_share[:, toward] - self.log_share[:, against]
            names = list(self.words)
            ranked = np.argsort(-ratio, kind="stable")[:count]
            self._ranked[request] = [names[n] for n in ranked]
        return self._ranked[request]

    @cached_property
    def _ranked(self) -> dict[tuple[int, int, int], list[str]]:
        return {}
