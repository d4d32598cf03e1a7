"""Words of the dictionary ranked by their first-order gain, for models that read spellings.

Such a model has a vector for every word it may meet: what its convolutions make of the spelling.
What a swap gains is, to first order, the product of the slope there and the difference of the two
words' vectors. (The sum over the differences of their characters would be a first order in the
spelling; two words differ in too many characters for that to tell anything.) This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from brittle.moves import EditSpace, Move
from brittle.ranking.layout import Integers
from brittle.text import Word

CHUNK = 128  # gains whose maximum is looked at before they are
Case = Callable[[str], str]


@dataclass(frozen=True, eq=False, slots=True)
class SwapMoves:
    """The best swaps of one text, the highest gain first, spelt out when looked at (`Moves`)."""

    gain: NDArray[np.float64]
    row: Integers
    new: Integers
    positions: Sequence[int]
    words: Sequence[Word]
    vocabulary: Sequence[str]

    def __len__(self) -> int:
        return len(self.gain)

    def __getitem__(self, n: int) -> Move:
        row = int(self.row[n])
        new = case_of(self.words[row])(self.vocabulary[self.new[n]])
        return Move(float(self.gain[n]), self.positions[row], new, "swap", 0, True)


class WordSwaps:
    """Ranks the words of a dictionary, in lower case, in the place of others.

    `vectors` gives those of many words; a substitute has the capitals of the word it replaces, and
    so has its vector. Gains of one value stand in the order of the places, then of the dictionary.
    """

    def __init__(
        self, vocabulary: Sequence[str], vectors: Callable[[Sequence[str]], Tensor]
    ) -> None:
        self.vocabulary = tuple(vocabulary)
        self._row = {word: n for n, word in enumerate(self.vocabulary)}
        self._vectors = vectors
        self._table = lru_cache(maxsize=len(CASES))(self._made)

    def _made(self, case: Case) -> tuple[Tensor, Tensor]:
        table = self._vectors([case(word) for word in self.vocabulary])
        return table, table.norm(dim=1).clamp(min=1e-12)

    def best(
        self,
        positions: Sequence[int],
        words: Sequence[Word],
        vector: Tensor,
        gradient: Tensor,
        space: EditSpace,
    ) -> SwapMoves:
        """Rank the swaps of one text, from the vectors at some places and the slope there."""
        along = gradient.sign() if space.sign else gradient
        gain = along.new_empty((len(words), len(self.vocabulary)))
        cases = [case_of(word) for word in words]
        for case in dict.fromkeys(cases):
            rows = [n for n, one in enumerate(cases) if one is case]
            (table, norm), now = self._table(case), (along[rows] * vector[rows]).sum(dim=1)
            found = torch.addmm(-now[:, None], along[rows], table.T)
            if space.cosine is not None:
                near = normalize(vector[rows], dim=1) @ table.T >= space.cosine * norm
                found.masked_fill_(~near, -torch.inf)
            gain[rows] = found
        for n, word in enumerate(words):
            own = self._row.get(word.lower()) if isinstance(word, str) else None
            if own is not None:
                gain[n, own] = -torch.inf
        value, at = _top(gain.view(-1), space.top_k)
        row, new = np.divmod(at, max(1, len(self.vocabulary)))
        return SwapMoves(value, row, new, positions, words, self.vocabulary)


def case_of(word: Word) -> Case:
    """Say how a word in lower case is to be written in the place of this one."""
    if not isinstance(word, str) or not word[:1].isupper():
        return _as_it_is
    return str.upper if word.isupper() and len(word) > 1 else _with_a_capital


def _as_it_is(word: str) -> str:
    return word


def _with_a_capital(word: str) -> str:
    return word[:1].upper() + word[1:]


CASES = (_as_it_is, _with_a_capital, str.upper)


def _top(gain: Tensor, most: int) -> tuple[NDArray[np.float64], Integers]:
    """Find the highest finite gains, and where they are; of equal ones the first."""
    low = -torch.inf
    gain = torch.nan_to_num(gain, nan=low, posinf=low, neginf=low)
    if not min(most, len(gain)):
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    whole = len(gain) // CHUNK
    chunks = gain[: whole * CHUNK].view(whole, CHUNK).amax(dim=1)
    if len(chunks) < most:
        chunks = gain
    # So many chunks have a gain at or above the floor: none of the best is below it.
    floor = chunks.topk(min(most, len(chunks))).values[-1]
    at = ((gain >= floor) & (gain > low)).nonzero()[:, 0]
    value, order = gain[at].sort(descending=True, stable=True)
    return value[:most].double().numpy(), at[order[:most]].numpy()
