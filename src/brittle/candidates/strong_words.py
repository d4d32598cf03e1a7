"""The words that speak most for a class (naive Bayes ratios), and the labelled data they need.

Labelled data that a proposal learns from, and which class of the target a label means.

The words that speak most for a class, learned from labelled text (naive Bayes ratios).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from brittle import data
from brittle.answers import find_label
from brittle.data.catalogue import CATALOGUE
from brittle.data.columns import Columns
from brittle.data.example import Example
from brittle.data.files import split_files
from brittle.errors import UsageError
from brittle.text import words_of


def load_training_data(
    learn_from: str | None, what: str, columns: Columns | None = None
) -> Sequence[Example]:
    """Load a file, or the train split of a folder or of a data set by name, to learn `what`.

    A file is read by the `columns` of the data that is attacked; one that does not have them, by
    the usual ones.
    """
    if learn_from is None:
        raise UsageError(
            f"This attack learns its {what} from labelled data, and the data attacked is not of "
            "the catalogue. Name some with --learn-from, for example --learn-from train.csv."
        )
    if learn_from in CATALOGUE:
        return data.load(learn_from, split="train").examples
    split = "train" if split_files(learn_from) else None
    if columns is None:
        return data.load(learn_from, split=split).examples
    try:
        text, label = columns.text, columns.label
        return data.load(learn_from, split=split, text=text, label=label).examples
    except UsageError as error:
        with suppress(UsageError):
            return data.load(learn_from, split=split).examples
        raise error


def find_class(
    label: str, labels: Sequence[str], label_map: Mapping[str, str] | None = None
) -> int | None:
    """Return the index of the target's class that a label of the data means, if there is one.

    `label_map` tells which of the target's `labels` a label of the data means, if their names
    differ; a label that is not in it keeps its name. Names match as `find_label` matches them.
    """
    meant = list((label_map or {}).values())
    number = find_label(label, list(label_map or {}))
    return find_label(label if number is None else meant[number], labels)


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
                f"The examples to learn strong words from hold none of class {empty[0]!r}. "
                f"Expected labelled examples of {', '.join(labels)}; got the labels "
                f"{', '.join(sorted(classes)) or 'none'}. Name other data with --learn-from, or "
                "say which label is which with --labels DATA=TARGET,…"
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


def learn_strong_words(
    learn_from: str | None,
    labels: Sequence[str],
    label_map: Mapping[str, str] | None = None,
    columns: Columns | None = None,
) -> StrongWords:
    """Learn strong words once: from a file, or from the train split of a data set by name."""
    return _learn(learn_from, tuple(labels), tuple((label_map or {}).items()), columns)


@lru_cache(maxsize=4)
def _learn(
    learn_from: str | None,
    labels: tuple[str, ...],
    label_map: tuple[tuple[str, str], ...],
    columns: Columns | None,
) -> StrongWords:
    examples = load_training_data(learn_from, "words", columns)
    return StrongWords.learn(examples, labels, dict(label_map))
