"""A small language model: how likely each word is after the one before it.

The shipped table of counts is built by scripts/build_bigrams.py. Its first line says where it comes
from, the second is the number of tokens counted, the third holds the words, the most frequent
first. Then come, for every word, its count (4 bytes) and how many words follow it in the table (2
bytes), and, for all bigrams in order, the second word as its distance to the one before (low bytes,
then high bytes) and the code of the count (a byte).
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise, starmap
from math import log10
from pathlib import Path

import numpy as np
import numpy.typing as npt

from brittle.english.vectors import counterfitted
from brittle.text import LONG, SwappedText, Text, Word

SHIPPED = Path(__file__).with_name("bigrams.bin.xz")
BREAK = "|"
"""The token for punctuation, and for the start and the end of a text."""
HOLE = "____"
DISCOUNT = 0.75
GENERAL_SHARE = 0.1
"""The weight of a word's rank in general English in its probability; its count has the rest."""
ZIPF = 0.1
FLOOR = 1e-8

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bigrams:
    """Counts of words and of pairs of words that follow each other.

    `pairs` holds a·len(words) + b for every bigram (a, b), ascending, and `pair_counts` its count.
    """

    source: str
    total: int
    words: Sequence[str]
    counts: Integers
    pairs: Integers
    pair_counts: Integers

    @staticmethod
    def from_table(table: bytes) -> Bigrams:
        """Parse a table as scripts/build_bigrams.py writes it; large counts come back rounded."""
        source, total, names, rest = table.split(b"\n", 3)
        words = names.decode().split(" ")
        size = len(words)
        counts = np.frombuffer(rest, "<u4", size).astype(np.int64)
        followers = np.frombuffer(rest, "<u2", size, 4 * size).astype(np.int64)
        number, start = int(followers.sum()), 6 * size
        low, high, codes = (
            np.frombuffer(rest, np.uint8, number, start + n * number).astype(np.int64)
            for n in range(3)
        )
        first = np.repeat(np.arange(size), followers)
        gaps = low + 256 * high
        ends = np.cumsum(gaps)
        before = np.repeat((np.cumsum(followers) - followers), followers)
        second = ends - np.where(before > 0, ends[before - 1], 0)
        return Bigrams(
            source.decode(), int(total), words, counts, first * size + second, _counts_of(codes)
        )

    def log_probability(self, first: str, second: str) -> float:
        """Return log10 of the probability of a token after another, by absolute discounting."""
        a, b = self._index.get(first), self._index.get(second)
        general = self._word_probability(b, second)
        if a is None:
            return log10(general)
        seen = 0 if b is None else self._pairs.get(a * len(self.words) + b, 0)
        share = max(0.0, seen - DISCOUNT) / float(self.counts[a])
        return log10(share + self._left_over[a] * general)

    def count(self, before: str, after: str) -> int:
        """Return how often two tokens were counted side by side, roughly if often."""
        first, second = self._index.get(before), self._index.get(after)
        if first is None or second is None:
            return 0
        return self._pairs.get(first * len(self.words) + second, 0)

    def frequency(self, token: str) -> int:
        """Return how often a token was counted."""
        row = self._index.get(token)
        return 0 if row is None else int(self.counts[row])

    def fluency(self, text: Text) -> float:
        """Return log10 of the probability of a text."""
        if isinstance(text, SwappedText):
            return sum(self._swapped_terms(text))
        if len(text) > LONG:
            return sum(text.once(self._tokens_and_terms)[2])
        return sum(
            self.log_probability(a, b) for tokens in tokens_of(text) for a, b in pairwise(tokens)
        )

    def _swapped_terms(self, text: SwappedText) -> list[float]:
        """Compute the terms of the swapped words and of their neighbours; others are the source's.

        The caller adds all of them up, for a sum must not depend on how a text was made.
        """
        tokens, places, known = text.source.once(self._tokens_and_terms)
        swapped = {places[i]: _token(word) for i, word in text.swapped}
        terms = known[:]
        for n, token in swapped.items():
            terms[n - 1] = self.log_probability(swapped.get(n - 1, tokens[n - 1]), token)
            terms[n] = self.log_probability(token, swapped.get(n + 1, tokens[n + 1]))
        return terms

    def _tokens_and_terms(self, text: Text) -> tuple[list[str], list[int], list[float]]:
        """Return the tokens of all fields, the place of every word, what each adds to the next."""
        tokens: list[str] = []
        places: list[int] = []
        terms: list[float] = []
        for own, own_places in _tokens_and_places(text):
            places += [len(tokens) + place for place in own_places]
            tokens += own
            terms += [*starmap(self.log_probability, pairwise(own)), 0.0]  # no term between fields
        return tokens, places, terms

    def gain(self, before: str, old: str, new: str, after: str) -> float:
        """Return how much log10 of a text's probability rises if a word between two is replaced."""
        score = self.log_probability
        return score(before, new) + score(new, after) - score(before, old) - score(old, after)

    def _word_probability(self, row: int | None, word: str) -> float:
        own = 0.0 if row is None else float(self.counts[row]) / self.total
        rank = counterfitted().vectors.index.get(word)
        general = 0.0 if rank is None else ZIPF / (rank + 1 / ZIPF)
        return max(FLOOR, (1 - GENERAL_SHARE) * own + GENERAL_SHARE * general)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: n for n, word in enumerate(self.words)}

    @cached_property
    def _pairs(self) -> dict[int, int]:
        return dict(zip(self.pairs.tolist(), self.pair_counts.tolist()))

    @cached_property
    def _left_over(self) -> list[float]:
        """The probability after each word that its known followers leave to all others."""
        first = self.pairs // len(self.words)
        kept = np.maximum(0, self.pair_counts - DISCOUNT)
        spent = np.bincount(first, kept, minlength=len(self.words)) / np.maximum(1, self.counts)
        left: list[float] = np.clip(1 - spent, 0.001, 1).tolist()
        return left


class FluencyModel:
    """The helper that says how likely texts are, by the shipped language model."""

    name = "bigrams"

    @property
    def fingerprint(self) -> str:
        """A hash of the table of counts."""
        return hashlib.sha256(SHIPPED.read_bytes()).hexdigest()[:12]

    def fluencies(self, items: Sequence[Text]) -> list[float]:
        """Return log10 of the probability of every text."""
        return [bigrams().fluency(item) for item in items]


def tokens_of(text: Text) -> Iterator[list[str]]:
    """Yield the tokens of every field: words in lower case, and breaks for punctuation.

    >>> list(tokens_of(Text.of("A warm film, with John")))
    [['|', 'a', 'warm', 'film', '|', 'with', 'john', '|']]
    """
    return (tokens for tokens, _ in _tokens_and_places(text))


def _tokens_and_places(text: Text) -> Iterator[tuple[list[str], list[int]]]:
    """Yield the tokens of every field, and the place of each word among them."""
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        tokens, places = [BREAK], []
        for n, word in enumerate(text.words[start:stop]):
            if n and not field.gaps[n].isspace():
                tokens.append(BREAK)
            places.append(len(tokens))
            tokens.append(_token(word))
        yield [*tokens, BREAK], places


def _token(word: Word) -> str:
    return word.lower() if isinstance(word, str) else HOLE


@cache
def bigrams() -> Bigrams:
    """Load the shipped language model, once per process."""
    return Bigrams.from_table(lzma.decompress(SHIPPED.read_bytes()))


# Counts up to 127 are exact, larger ones are rounded to steps of a twelfth of a doubling.
EXACT_COUNTS = 128
STEPS_PER_DOUBLING = 12


def _counts_of(codes: Integers) -> Integers:
    large = np.rint(EXACT_COUNTS * np.exp2((codes - EXACT_COUNTS) / STEPS_PER_DOUBLING))
    return np.where(codes < EXACT_COUNTS, codes, large).astype(np.int64)
