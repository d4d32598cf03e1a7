"""Words without candidates, whatever the source of candidates: stop words, frequent words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from brittle.candidates import Proposal
from brittle.candidates.training_data import load_training_data
from brittle.data.columns import Columns
from brittle.english.words import is_clitic, is_stop_word
from brittle.text import words_of


@dataclass(frozen=True)
class SparingStopWords:
    """A proposal with the candidates of another one, but none for stop words.

    Tokens of contractions ("n't", "ll") are stop words, and are no candidates either.
    """

    proposal: Proposal

    @property
    def needs_tags(self) -> bool:
        return self.proposal.needs_tags

    def prepare(self, words: Iterable[str]) -> None:
        """Pass on the words that come next, without the stop words."""
        self.proposal.prepare(word for word in words if not is_stop_word(word))

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the candidates of a word; a stop word has none."""
        if is_stop_word(word):
            return ()
        return tuple(form for form in self.proposal.of(word, tag) if not is_clitic(form))


@dataclass(frozen=True)
class SparingFrequentWords:
    """A proposal with the candidates of another one, but none for these words (lower case)."""

    proposal: Proposal
    frequent: frozenset[str]

    @property
    def needs_tags(self) -> bool:
        return self.proposal.needs_tags

    def prepare(self, words: Iterable[str]) -> None:
        """Pass on the words that come next, without the frequent ones."""
        self.proposal.prepare(word for word in words if word.lower() not in self.frequent)

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the candidates of a word; a frequent word has none."""
        return () if word.lower() in self.frequent else self.proposal.of(word, tag)


@lru_cache(maxsize=4)
def learn_frequent_words(
    learn_from: str | None, count: int, columns: Columns | None = None
) -> frozenset[str]:
    """Return the most frequent words of labelled data, ties in lexicographic order."""
    counts: Counter[str] = Counter()
    for example in load_training_data(learn_from, "frequent words", columns):
        for _, raw in example.fields:
            counts.update(words_of(raw.lower()))
    return frozenset(sorted(counts, key=lambda word: (-counts[word], word))[:count])
