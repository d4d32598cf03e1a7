"""The k highest gains of every text, found without sorting all the others. This file needs torch.

The last digits of a gain hang on the machine, and on some machines on the batch, so they must not
decide between two edits that a model cannot tell apart: gains are rounded before they are ordered.
Rounded gains of one value stay in the order of their blocks, then of their columns.
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
UNSURE_BITS = 7  # of a gain, by which rounding in another order may change it; the others are kept


class TopK(NamedTuple):
    """The highest gains of one text, the highest first, with the row and the column of each."""

    gain: NDArray[np.float64]
    row: Integers
    column: Integers


def top_k_of_table(
    gain: Tensor, ends: Sequence[int], k: int, threshold: NDArray[Any] | None = None
) -> list[TopK]:
    """Find the k highest finite gains of every text in a table; text n has the rows before ends[n].

    Rows are counted from the first row of their text; `threshold` is as in `top_k`.
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

    ends = [blocks * end for end in ends]
    return [
        TopK(best, number // blocks, number % blocks * BLOCK_COLUMNS + column)
        for best, number, column in top_k(maximum.cpu().numpy(), ends, k, expand, threshold)
    ]


def top_k(
    maximum: NDArray[Any],
    ends: Sequence[int],
    k: int,
    expand: Callable[[Integers], NDArray[Any]],
    threshold: NDArray[Any] | None = None,
) -> list[TopK]:
    """Find the k highest gains of every text, where gains lie in blocks; −∞ stands for no gain.

    `maximum` is the highest gain of each block, text n has the blocks before ends[n], and `expand`
    computes all gains of some blocks (blocks × columns). `threshold` has a number for every text
    that is not above its k-th highest gain; if None, it is the k-th highest maximum of its blocks.
    The rows of the answer are blocks, counted from the first one of their text.
    """
    starts = [0, *ends][:-1]
    of_text = [maximum[start:stop] for start, stop in zip(starts, ends)]
    if threshold is None:
        threshold = np.array([_kth_highest(value, k) for value in of_text])
    highest = np.array([value.max(initial=-np.inf) for value in of_text], dtype=np.float64)
    step = rounding_step(highest, maximum.dtype)
    # What is rounded to the k-th highest gain may lie a little below it.
    threshold = np.maximum(threshold - step, np.finfo(maximum.dtype).min)
    text = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    block = np.flatnonzero(maximum >= threshold[text])
    gains = expand(block)
    index = np.flatnonzero(gains >= threshold[text[block], None])
    row, column = np.divmod(index, max(1, gains.shape[1]))
    gain, block = gains.reshape(-1)[index].astype(np.float64), block[row]
    stops = np.searchsorted(block, ends).tolist()
    best = []
    for start, begin, stop, unit in zip(starts, [0, *stops], stops, step):
        value = gain[begin:stop]
        candidates = np.flatnonzero(value >= _kth_highest(value, k) - unit)
        rounded = round_to(value[candidates], unit)
        order = (-rounded).argsort(kind="stable")[:k]
        at = begin + candidates[order]
        best.append(TopK(rounded[order], block[at] - start, column[at]))
    return best


def rounding_step(highest: NDArray[np.float64], dtype: Any) -> NDArray[np.float64]:
    """Compute to which multiples the gains of a text are rounded, from its highest gain.

    It is a power of two, so that the last digits of the highest gain do not decide about it; 0,
    which rounds nothing, if the highest gain is 0 or not finite.
    """
    has_size = np.isfinite(highest) & (highest != 0)
    exponent = np.frexp(np.where(has_size, highest, 1.0))[1]
    return np.where(has_size, np.ldexp(1.0, exponent - (np.finfo(dtype).nmant - UNSURE_BITS)), 0.0)


def round_to(gain: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Round gains to multiples of a step; 0 rounds nothing."""
    return np.rint(gain / step) * step if step else gain


def _kth_highest(value: NDArray[Any], k: int) -> float:
    """Return the k-th highest value; −∞ if there are fewer."""
    if not k:
        return np.inf
    return float(np.partition(value, -k)[-k]) if k <= len(value) else -np.inf
