"""The best edits of a text: found in a table of gains, ranked, and spelt out when looked at.

This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.moves import EditKind, Move
from brittle.text import Word

SpellOut = Callable[[Word, int], tuple[str, EditKind, int, bool]]
TopK = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]
"""The highest gains, with the row and the column of each."""
EMPTY_TOP_K: TopK = (np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False, slots=True)
class RankedMoves:
    """The best edits of one text, the highest gain first, spelt out when looked at (`Moves`)."""

    gain: NDArray[np.float64]
    row: NDArray[np.integer]
    choice: NDArray[np.integer]
    positions: tuple[int, ...]
    words: tuple[Word, ...]
    spelt: SpellOut

    def __len__(self) -> int:
        return len(self.gain)

    def __getitem__(self, n: int) -> Move:
        row = int(self.row[n])
        new, kind, at, known = self.spelt(self.words[row], int(self.choice[n]))
        return Move(float(self.gain[n]), self.positions[row], new, kind, at, known)


@dataclass(frozen=True, eq=False)
class LazyMoves:
    """A ranking that is made when it is first looked at: most texts of a won case never are."""

    rank: Callable[[], RankedMoves]

    @cached_property
    def _ranked(self) -> RankedMoves:
        return self.rank()

    @property
    def gain(self) -> NDArray[np.float64]:
        return self._ranked.gain

    def __getitem__(self, n: int) -> Move:
        return self._ranked[n]


def top_k_of_table(gain: Tensor, most: int) -> TopK:
    """Find the highest gains of a table, with their rows and columns; of equal ones the first."""
    flat = gain.reshape(-1)
    value, at = torch.topk(flat, min(most + 1, len(flat)))
    if len(value) > most and value[most - 1] == value[most]:
        top_k_of_table, where = top_k(flat, most)  # which of the equal ones came is chance
    else:
        top_k_of_table, where = value[:most].double().cpu().numpy(), at[:most].cpu().numpy()
        top_k_of_table, where = (
            top_k_of_table[top_k_of_table > -np.inf],
            where[top_k_of_table > -np.inf],
        )
    row, column = np.divmod(where, max(1, gain.shape[1]))
    return top_k_of_table, row, column


def merge_top_k(one: TopK, other: TopK, rows: NDArray[np.int64], most: int) -> TopK:
    """Put two lists of the best together; the rows of the second are numbers of `rows`."""
    gain = np.concatenate([one[0], other[0]])
    row = np.concatenate([one[1], rows[other[1]]])
    column = np.concatenate([one[2], other[2]])
    order = np.lexsort((column, row, -gain))[:most]
    return gain[order], row[order], column[order]


def threshold_of(best: TopK, most: int) -> float:
    """Give what a gain must reach to be among the best."""
    if not most:
        return np.inf
    return float(best[0][-1]) if len(best[0]) == most else -np.inf


def top_k(gain: Tensor, most: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Find the highest finite gains, and where they are; of equal ones the first."""
    if not min(most, len(gain)):
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    gain = torch.where(torch.isfinite(gain), gain, -torch.inf)
    threshold_of = torch.topk(gain, min(most, len(gain)), sorted=False).values.min()
    found = (gain >= threshold_of).nonzero()[:, 0]
    value, order = gain[found].sort(descending=True, stable=True)
    value, order = value[:most], order[:most]
    finite = torch.isfinite(value)
    return value[finite].double().cpu().numpy(), found[order[finite]].cpu().numpy()
