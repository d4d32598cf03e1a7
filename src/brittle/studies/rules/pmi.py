"""Pointwise mutual information of words and labels, and the rules that follow from it alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from brittle.text import Text

UNSEEN = 0.0
"""The PMI of a word and a label that never meet, as in the paper's Table 6."""


@dataclass(frozen=True)
class WordCounts:
    """How often every word, in lower case, occurs in the texts of every label, by number."""

    counts: tuple[Counter[str], ...]

    @staticmethod
    def of(texts: Iterable[Text], labels: Iterable[int], classes: int) -> WordCounts:
        """Count the words of labelled texts, locked fields included."""
        counts: tuple[Counter[str], ...] = tuple(Counter() for _ in range(classes))
        for text, label in zip(texts, labels):
            for _, words in text.field_words():
                counts[label].update(str(word).lower() for word in words)
        return WordCounts(counts)

    @cached_property
    def _totals(self) -> list[int]:
        return [sum(counter.values()) for counter in self.counts]

    def pmi(self, word: str) -> tuple[float, ...]:
        """Return log2 p(w, z) / (p(w) p(z)) for every label z; p is over words of the texts.

        The paper prints the quotient without the logarithm, but its Table 6 has logarithms to the
        base 2, plus a constant, which cancels in the salience of words that were seen.

        >>> counts = WordCounts.of(map(Text.of, ["good good film", "bad film film"]), [0, 1], 2)
        >>> [round(value, 3) for value in counts.pmi("film")], counts.pmi("good")
        ([-0.585, 0.415], (1.0, 0.0))
        """
        own = [counter[word] for counter in self.counts]
        whole, of_word = sum(self._totals), sum(own)
        return tuple(
            math.log2(count * whole / (of_word * total)) if count else UNSEEN
            for count, total in zip(own, self._totals)
        )


def pmi_salience(label: int, word: Sequence[float], substitute: Sequence[float]) -> float:
    """Compute the salience of a rule from the PMI of both words with every label (equation 2).

    >>> pmi_salience(0, [1.0, 0.0], [-0.5, 0.5])
    2.0
    """
    signs = [1 if number == label else -1 for number in range(len(word))]
    return sum(sign * (w - s) for sign, w, s in zip(signs, word, substitute))
