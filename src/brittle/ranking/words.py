"""Swaps of words ranked by their first-order gain, for models that read spellings.

Such a model computes a vector of every word from its spelling. The gain of a swap is, to first
order, the product of the gradient along that vector and the difference of the two words' vectors.
(A first order in the characters would tell nothing: two words differ in too many of them.) This
file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.functional import normalize

from brittle.english.forms import match_case
from brittle.moves import EditKind, EditSpace
from brittle.ranking.moves import RankedMoves, match_capitals
from brittle.ranking.top_k import top_k_of_table
from brittle.text import Word

CASES = ("ab", "Ab", "AB")  # a word of every case


@dataclass(frozen=True, eq=False)
class VectorGradients:
    """The words of one text at some positions, with a vector and a gradient along it for each."""

    space: EditSpace
    positions: Sequence[int]
    words: Sequence[Word]
    vector: Tensor
    gradient: Tensor


class WordSwaps:
    """Ranks the words of a vocabulary, all in lower case, as substitutes of others.

    `vectors_of` computes the vectors of many words. A substitute has the capitals of the word it
    replaces, and its vector is that of the capitals. Gains of one value stand in the order of the
    positions, then of the vocabulary.
    """

    def __init__(
        self, vocabulary: Sequence[str], vectors_of: Callable[[Sequence[str]], Tensor]
    ) -> None:
        self.vocabulary = tuple(vocabulary)
        self._column = {word: n for n, word in enumerate(self.vocabulary)}
        self._vectors_of = vectors_of
        self._vectors = lru_cache(maxsize=len(CASES))(self._vectors_in)

    def _vectors_in(self, case: str) -> tuple[Tensor, Tensor]:
        """Compute the vectors of the vocabulary in the capitals of a word, and their norms."""
        vectors = self._vectors_of([match_case(word, case) for word in self.vocabulary])
        return vectors, vectors.norm(dim=1).clamp(min=1e-12)

    def rank(self, texts: Sequence[VectorGradients]) -> list[RankedMoves]:
        """Rank the swaps of texts, each in its own space."""
        return [self._rank_text(text) for text in texts]

    def _rank_text(self, text: VectorGradients) -> RankedMoves:
        space, words, vector = text.space, text.words, text.vector
        direction = text.gradient.sign() if space.sign else text.gradient
        gain = direction.new_empty((len(words), len(self.vocabulary)))
        cases = [match_capitals(CASES[0], word) for word in words]
        for case in dict.fromkeys(cases):
            rows = [n for n, other in enumerate(cases) if other == case]
            vectors, norm = self._vectors(case)
            current = (direction[rows] * vector[rows]).sum(dim=1)
            table = torch.addmm(-current[:, None], direction[rows], vectors.T)
            if space.cosine is not None:
                near = normalize(vector[rows], dim=1) @ vectors.T >= space.cosine * norm
                table.masked_fill_(~near, -torch.inf)
            gain[rows] = table
        for n, word in enumerate(words):
            column = self._column.get(word.lower()) if isinstance(word, str) else None
            if column is not None:
                gain[n, column] = -torch.inf
        [best] = top_k_of_table(gain, [len(words)], space.top_k)
        return RankedMoves(*best, text.positions, words, self._spell_out)

    def _spell_out(self, word: Word, column: int) -> tuple[str, EditKind, int, bool]:
        return match_capitals(self.vocabulary[column], word), "swap", 0, True
