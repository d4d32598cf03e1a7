"""How often each sense of a word is meant, and the words that are near it in WordNet.

The shipped table has a block of lines for each part of speech (`#n`, `#v`, `#a`, `#r`), and a line
for each word with several senses or with near words: `dull 5,5,2 &dreary:0:0 !lively:0:1` means
that three senses of `dull` were counted 5, 5 and 2 times in WordNet's tagged texts, that `dreary`
is similar to its first sense, in its own first sense, and that `lively` is its opposite. A word
that is missing has one sense. The marks are those of `NEAR`, and `!` for opposites.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SHIPPED = Path(__file__).with_name("senses.txt.xz")
SIMILAR, SIBLING, WIDER, NARROWER = NEAR = ("&", "+", "@", "~")
"""Marks of near words: similar; similar to the same word; a kind of it; it is a kind of this."""
OPPOSITE = "!"
PRIOR = 3.0
"""How many uses the order of the senses counts for, beside those that were counted."""

_NEAR = re.compile(r"([&+@~!])([^:\s]+):(\d+):(\d+)")


@dataclass(frozen=True)
class NearWord:
    """A word that is near another one: by which mark, and in which sense of each, from 0."""

    word: str
    mark: str
    sense: int
    other_sense: int


class Senses:
    """Counts of senses and near words, by lemma and part of speech."""

    def __init__(self, lines: Mapping[tuple[str, str], str]) -> None:
        self._lines = lines
        self._shares: dict[tuple[str, str], tuple[float, ...]] = {}

    @staticmethod
    def from_table(table: str) -> Senses:
        """Parse a table as it is described above; a line is read when its word is asked for."""
        lines = {}
        for block in table.split("#")[1:]:
            pos, *rows = block.rstrip("\n").split("\n")
            for row in rows:
                word, _, rest = row.partition(" ")
                lines[word, pos] = rest
        return Senses(lines)

    def counts(self, lemma: str, pos: str) -> tuple[int, ...]:
        """Return how often each sense of a word was counted; one sense, never, if it is unknown."""
        numbers = self._lines.get((lemma, pos), "0").partition(" ")[0]
        return tuple(int(number) for number in numbers.split(","))

    def shares(self, lemma: str, pos: str) -> tuple[float, ...]:
        """Estimate how often each sense is meant, as shares of 1.

        WordNet's order speaks for a sense, too: it is worth `PRIOR` uses, which the senses share by
        the inverse of their numbers.
        """
        if (lemma, pos) in self._shares:
            return self._shares[lemma, pos]
        counts = self.counts(lemma, pos)
        weights = [1 / (n + 1) for n in range(len(counts))]
        scale = PRIOR / sum(weights)
        total = sum(counts) + PRIOR
        shares = tuple((c + scale * w) / total for c, w in zip(counts, weights))
        # Unknown words are without end, and cost nothing.
        if (lemma, pos) in self._lines:
            self._shares[lemma, pos] = shares
        return shares

    def near(self, lemma: str, pos: str) -> list[NearWord]:
        """List the near words of a word, in the order of its senses."""
        return [word for word in self._related(lemma, pos) if word.mark != OPPOSITE]

    def opposites(self, lemma: str, pos: str) -> frozenset[str]:
        """Return the words that are opposite to a sense of a word."""
        return frozenset(w.word for w in self._related(lemma, pos) if w.mark == OPPOSITE)

    def _related(self, lemma: str, pos: str) -> list[NearWord]:
        found = _NEAR.findall(self._lines.get((lemma, pos), ""))
        return [NearWord(word, mark, int(own), int(other)) for mark, word, own, other in found]


@cache
def senses() -> Senses:
    """Load the shipped table, once per process."""
    return Senses.from_table(lzma.decompress(SHIPPED.read_bytes()).decode())
