"""The k highest gains of every text, found without sorting all the others. This file needs torch.

Gains of one value stay in the order of their blocks, then of their columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.ranking.layout import Integers

BLOCK_COLUMNS = 128  # of a table, whose maximum is computed before any of them is compared


class TopK(NamedTuple):
    """The highest gains of one text, the highest first, with the row and the column of each."""

    gain: NDArray[np.float64]
    row: Integers
    column: Integers


def top_k_of_table(gain: Tensor, ends: Sequence[int], k: int) -> list[TopK]:
    """Find the k highest finite gains of every text in a table; text n has the rows before ends[n].

    Rows are counted from the first row of their text.
    """
    blocks = -(-gain.shape[1] // BLOCK_COLUMNS)
    padding = blocks * BLOCK_COLUMNS - gain.shape[1]
    padded = torch.nn.functional.pad(gain, (0, padding), value=-torch.inf) if padding else gain
    block = padded.view(len(gain) * blocks, BLOCK_COLUMNS)
    maximum = block.amax(dim=1)
    if not bool((maximum < torch.inf).all()):
        # What is infinite or not a number would hide the other gains of its block.
        block = torch.where(block.isfinite(), block, -torch.inf)
        maximum = block.amax(dim=1)

    def expand(numbers: Integers) -> NDArray[Any]:
        return block[torch.from_numpy(numbers).to(block.device)].cpu().numpy()

    found = top_k(maximum.cpu().numpy(), [blocks * end for end in ends], k, expand)
    split = [np.divmod(text.row, max(1, blocks)) for text in found]
    return [
        TopK(text.gain, row, number * BLOCK_COLUMNS + text.column)
        for text, (row, number) in zip(found, split)
    ]


def top_k(
    maximum: NDArray[Any],
    ends: Sequence[int],
    k: int,
    expand: Callable[[Integers], NDArray[Any]],
) -> list[TopK]:
    """Find the k highest gains of every text, where gains lie in blocks; −∞ stands for no gain.

    `maximum` is the highest gain of each block, text n has the blocks before ends[n], and `expand`
    computes all gains of some blocks (blocks × columns). It is asked for k blocks of a text, those
    with the highest maxima: a gain of any other block has k gains before it. The rows of the answer
    are blocks, counted from the first one of their text.
    """
    if not ends:
        return []
    spans = list(zip([0, *ends[:-1]], ends))
    chosen = [np.sort(_highest(maximum[start:stop], k)) for start, stop in spans]
    gain = expand(np.concatenate([start + rows for (start, _), rows in zip(spans, chosen)]))
    stops = np.cumsum([len(rows) for rows in chosen]).tolist()
    found = []
    for rows, start, stop in zip(chosen, [0, *stops[:-1]], stops):
        values = gain[start:stop].reshape(-1)
        best = _highest(values, k)
        row, column = np.divmod(best, gain.shape[1])
        found.append(TopK(values[best].astype(np.float64), rows[row], column))
    return found


def _highest(value: NDArray[Any], k: int) -> Integers:
    """Return where the k highest values are, the highest first; of equal ones the first."""
    threshold = -np.inf
    if 0 < k < len(value):
        threshold = np.partition(value, len(value) - k)[len(value) - k]
    index = np.flatnonzero((value >= threshold) & (value > -np.inf))
    return index[np.argsort(-value[index], kind="stable")[:k]]
