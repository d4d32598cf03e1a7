"""The words that an attack may choose from: the target's own, or, where it has none, the data's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from brittle.data.dataset import Dataset
from brittle.english.words import common_words
from brittle.errors import MissingPackage
from brittle.targets.protocols import declared_by
from brittle.text import is_word, words_of


@dataclass
class TargetWords:
    """Lists words when it is called; `note` then tells what stands for a missing vocabulary."""

    target: Any
    dataset: Dataset
    note: str | None = None

    def __call__(self) -> tuple[str, ...]:
        own = declared_by(self.target, "vocabulary")
        if own:
            return distinct(word for word in own if is_word(word))
        words, source = words_of_data(self.dataset), "the words of the data"
        with suppress(MissingPackage):
            words, source = (
                distinct((*words, *common_words())),
                (f"{source}, then the words of GloVe"),
            )
        self.note = (
            f"The target {self.target.name!r} does not list its words. The attack chooses "
            f"from {source}, the most frequent first."
        )
        return words


def words_of_data(dataset: Dataset) -> tuple[str, ...]:
    """List the words of the fields that may be edited, the most frequent first."""
    counts = Counter(
        word
        for example in dataset.examples
        for name, raw in example.fields
        if name not in example.locked
        for word in words_of(raw)
    )
    return distinct(sorted(counts, key=lambda word: (-counts[word], word)))


def distinct(words: Iterable[str]) -> tuple[str, ...]:
    """List words without those that differ from an earlier one by case only."""
    by_form: dict[str, str] = {}
    for word in words:
        by_form.setdefault(word.casefold(), word)
    return tuple(by_form.values())
