"""An n-gram model, which tells how alike two collections of sentences are, by perplexity."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

ORDER = 5
BEGIN, END = "<begin>", "<end>"
Sentence = Sequence[Hashable]


@dataclass(frozen=True, eq=False)
class NgramModel:
    """Counts of words by what stands before them, smoothed after Witten and Bell (1991).

    P(w | h) = (c(h, w) + t(h) · P(w | h')) / (c(h) + t(h)), where h' is h without its first word
    and t(h) is the number of different words seen after h. In the end all words of a vocabulary of
    `words` are equally likely, and so is the end of a sentence.
    """

    words: int
    order: int
    counts: dict[tuple[Hashable, ...], Counter[Hashable]] = field(repr=False)
    totals: dict[tuple[Hashable, ...], int] = field(repr=False)

    @staticmethod
    def of(sentences: Iterable[Sentence], words: int, order: int = ORDER) -> NgramModel:
        """Count the n-grams of sentences, up to an order."""
        counts: defaultdict[tuple[Hashable, ...], Counter[Hashable]] = defaultdict(Counter)
        for sentence in sentences:
            for history, word in _positions(sentence, order):
                for start in range(len(history) + 1):
                    counts[history[start:]][word] += 1
        totals = {history: after.total() for history, after in counts.items()}
        return NgramModel(words, order, dict(counts), totals)

    def probability(self, word: Hashable, history: tuple[Hashable, ...]) -> float:
        """Return the probability of a word, or of the end, after the words of a history."""
        likelihood = 1 / (self.words + 1)
        for start in range(len(history), -1, -1):
            after = self.counts.get(history[start:])
            if after is None:
                break  # what was never seen has no longer history that was
            total, kinds = self.totals[history[start:]], len(after)
            likelihood = (after[word] + kinds * likelihood) / (total + kinds)
        return likelihood

    def perplexity(self, sentences: Iterable[Sentence]) -> float:
        """Return the perplexity of the words and ends of sentences.

        >>> model = NgramModel.of([("a",)], words=1, order=1)
        >>> model.probability("a", ())  # 1 of 2 seen, and half of the 2 kinds' share
        0.5
        >>> round(model.perplexity([("a",)]), 6)
        2.0
        """
        total, count = 0.0, 0
        for sentence in sentences:
            for history, word in _positions(sentence, self.order):
                total -= math.log(self.probability(word, history))
                count += 1
        return math.exp(total / count) if count else math.nan


def _positions(sentence: Sentence, order: int) -> Iterable[tuple[tuple[Hashable, ...], Hashable]]:
    """Yield every word of a sentence, and its end, with the words before it."""
    padded = (*[BEGIN] * (order - 1), *sentence, END)
    for n in range(order - 1, len(padded)):
        yield padded[n - order + 1 : n], padded[n]
