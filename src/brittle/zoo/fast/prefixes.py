"""Texts that begin alike share the states of their common words: which states are computed.

This file needs torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.ranking.layout import ragged_rows
from brittle.ranking.whole_rows import ROWS

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SharedPrefixes:
    """The distinct states of texts, word by word, in whole rows: the last one is repeated.

    `count` is the number of states of each word. For every one of them there are the id of the word
    that is read in `tokens`, and in `parents` the state before it; where a word `stays`, these are
    all states of the word before, in order. `state` (texts × words) tells which state of a word is
    that of a text.
    """

    count: Integers
    tokens: list[Tensor]
    parents: list[Tensor]
    stays: list[bool]
    state: Integers


def share_prefixes(ids: Integers, length: Integers) -> SharedPrefixes:
    """Find the distinct states of sorted rows of ids, as long as `length` tells."""
    inside = np.arange(ids.shape[1]) < length[:, None]
    ids = np.where(inside, ids, -1)  # not the id of a hole at the end of a text
    is_new = np.ones(ids.shape, dtype=bool)
    np.logical_or.accumulate(ids[1:] != ids[:-1], axis=1, out=is_new[1:])
    is_new &= inside
    # The index of each row's state among the distinct states of a word.
    state = np.cumsum(is_new, axis=0) - 1
    # The rows whose states are computed, word by word.
    distinct, (_, row) = is_new.sum(axis=0), is_new.T.nonzero()
    count = distinct + -distinct % ROWS
    word, n = ragged_rows(count)
    row = row[(np.cumsum(distinct) - distinct)[word] + np.minimum(n, distinct[word] - 1)]
    parent = state[row, np.maximum(word - 1, 0)]
    ends = np.bincount(length - 1, minlength=ids.shape[1])
    # If none has ended and there are as many as before, each state has one successor.
    stays = (distinct == np.roll(distinct, 1)) & (np.roll(ends, 1) == 0)
    stays[0] = True
    tokens = split_rows(ids[row, word], count)
    return SharedPrefixes(count, tokens, split_rows(parent, count), stays.tolist(), state)


def split_rows(index: Integers, count: Integers) -> list[Tensor]:
    """Split an array into parts of these sizes."""
    return list(torch.split_with_sizes(torch.from_numpy(index), count.tolist()))
