"""LSTMs for scoring on the CPU, faster than torch's own; texts that begin alike share states.

Texts that begin alike share the states of their common words: which states are computed. This file
needs torch. Loops of tensor operations that run without Python: faster, and several at a time.

A hand-written pass takes some twenty small operations a word. Called from Python, every one of them
waits for Python's lock, and two workers spend more time on waiting than on computing. TorchScript
runs the whole loop in one call that does not hold the lock; the operations are the same, and so are
their results. This file needs torch.

With the loops in Python whole runs took 1.06 to 1.08 times the processor time, with equal rows, and
a pass of an LSTM by two workers 1.11 times as long (benchmarks/whole_runs.json).

LSTMs for scoring on the CPU, faster than torch's own on the texts of an attack.

Three things make it so. The first layer's input projection of a word is computed once. Only
sigmoids are computed, for torch's tanh is much slower: tanh(x) = 2 sigmoid(2x) − 1, with the inner
factor 2 folded into the weights. And texts that begin alike share the states of their common
words: candidates of one attack differ in a word or two. benchmarks/RESULTS.md has both times.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ParamSpec, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.ranking.top_k import ROWS, ragged_rows, whole_rows, whole_sigmoid_
from brittle.zoo.fast.cnn import word_vector_cache
from brittle.zoo.networks import Classifier, Tokenizer, pad_keys
from brittle.zoo.tokenizers import WordTokenizer

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


P = ParamSpec("P")
R = TypeVar("R")

UNSUPPORTED_PYTHON = (3, 14)  # from here on torch does not support TorchScript


def scripted(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of tensors; where torch has no TorchScript, the function itself is used.

    Torch calls TorchScript deprecated. What it offers instead needs a C++ compiler at run time.
    """
    if sys.version_info >= UNSUPPORTED_PYTHON or not hasattr(torch.jit, "script"):
        return function
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return cast(Callable[P, R], torch.jit.script(function))


class FastLstm:
    """The logits of a `Classifier` of LSTM layers and the last state, to rounding."""

    def __init__(self, network: Classifier, tokenizer: Tokenizer) -> None:
        lstms: list[nn.LSTM] = list(network.encoder.layers)
        with torch.inference_mode():
            self._layers = [LstmLayer(lstm) for lstm in lstms]
            self.head, self.bias = network.head.weight.t().contiguous(), network.head.bias
            self._projected = word_vector_cache(network, tokenizer, self._layers[0].project)
            if isinstance(tokenizer, WordTokenizer):
                # The whole vocabulary at once: it is bounded, and most of it will be met.
                self._projected.look_up(np.arange(len(tokenizer)))
        self.width: int = lstms[-1].hidden_size

    def logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Score texts encoded as the int32 ids of their words; none may be empty."""
        return self._read(keys, with_vectors=False)

    def vectors_and_logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Compute for every text one row: the vector that the last layer reads, then the logits."""
        return self._read(keys, with_vectors=True)

    def _read(self, keys: Sequence[bytes], with_vectors: bool) -> NDArray[np.float32]:
        order = sorted(range(len(keys)), key=keys.__getitem__)
        ids, length = pad_keys([keys[i] for i in order])
        with torch.inference_mode():
            states = whole_rows(self._last_states(ids, length))
            out = torch.addmm(self.bias, states, self.head)
            if with_vectors:
                out = torch.cat([states, out], dim=1)
        rows: NDArray[np.float32] = np.empty_like(out.numpy()[: len(keys)])
        rows[order] = out.numpy()[: len(keys)]
        return rows

    def _last_states(self, ids: NDArray[np.int64], length: NDArray[np.int64]) -> Tensor:
        """Compute the last states of sorted rows; rows that begin alike share their states."""
        projected, ids = self._projected.look_up(ids)
        shared = share_prefixes(ids, length)
        end, ends = np.argsort(length, kind="stable"), np.bincount(length - 1)
        last = self.bias.new_empty((len(ids), self.width))
        _read(
            projected,
            shared.tokens,
            shared.parents,
            shared.stays,
            split_rows(end, ends),
            split_rows(shared.state[end, length[end] - 1], ends),
            [layer.w_ih for layer in self._layers],
            [layer.bias for layer in self._layers],
            [layer.w_hh for layer in self._layers],
            last,
        )
        return last


class LstmLayer:
    """The transposed weights of one layer, its gates in our order."""

    def __init__(self, lstm: nn.LSTM) -> None:
        w_ih, w_hh, b_ih, b_hh = lstm.all_weights[0]
        self.w_ih, self.w_hh = (reorder_gates(w).t().contiguous() for w in (w_ih, w_hh))
        self.bias = reorder_gates(b_ih + b_hh)

    def project(self, x: Tensor) -> Tensor:
        """Compute what the input adds to the gates."""
        return torch.addmm(self.bias, x, self.w_ih)


def lstm_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the next hidden state and the next cell; the gates are overwritten."""
    i, f, o, g = whole_sigmoid_(gates).chunk(4, dim=1)
    cell = (f * cell).addcmul_(i, g, value=2).sub_(i)
    squashed = whole_sigmoid_(torch.mul(cell, 2))
    return torch.mul(o, squashed.mul_(2).sub_(1)), cell


@scripted
def _read(
    projected: Tensor,
    tokens: list[Tensor],
    parents: list[Tensor],
    stays: list[bool],
    ends: list[Tensor],
    end_states: list[Tensor],
    w_ih: list[Tensor],
    bias: list[Tensor],
    w_hh: list[Tensor],
    last: Tensor,
) -> None:
    """Read words; `last` gets the last states of the rows `ends`, of those after each word.

    For each word there are the rows of `projected` that are read, the states before them (those of
    the word before as they stand, if it `stays`), and the rows that end there with their states.
    The weights are those of each layer.
    """
    hidden = [w.new_zeros([1, w.size(0)]) for w in w_hh]
    cell = [w.new_zeros([1, w.size(0)]) for w in w_hh]
    for t in range(len(tokens)):
        gates = projected.index_select(0, tokens[t])
        for n in range(len(w_hh)):
            if n > 0:
                gates = torch.addmm(bias[n], hidden[n - 1], w_ih[n])
            if not stays[t]:
                hidden[n] = hidden[n].index_select(0, parents[t])
                cell[n] = cell[n].index_select(0, parents[t])
            if t > 0:
                gates.addmm_(hidden[n], w_hh[n])
            hidden[n], cell[n] = lstm_step(gates, cell[n])
        if ends[t].size(0) > 0:
            last.index_copy_(0, ends[t], hidden[-1].index_select(0, end_states[t]))


def reorder_gates(weight: Tensor) -> Tensor:
    """Order torch's gates i, f, g, o (rows of the weight) as i, f, o, g; double those of g.

    Doubled, the tanh of the candidate g is a sigmoid: tanh(x) = 2 sigmoid(2x) − 1.
    """
    i, f, g, o = weight.chunk(4)
    return torch.cat([i, f, o, 2 * g])
