"""LSTMs for scoring on the CPU, faster than torch's own on the texts of an attack.

Three things make it so. The first layer's input projection of a word is computed once. Only
sigmoids are computed, for torch's tanh is much slower: tanh(x) = 2 sigmoid(2x) − 1, with the inner
factor 2 folded into the weights. And texts that begin alike share the states of their common
words: candidates of one attack differ in a word or two. benchmarks/RESULTS.md has both times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.ranking.whole_rows import repeat_last, whole_rows
from brittle.zoo.batches import Tokenizer, pad_keys
from brittle.zoo.fast.word_vectors import word_vector_cache
from brittle.zoo.networks import Classifier
from brittle.zoo.tokenizers.words import WordTokenizer


class FastLstm:
    """The logits of a `Classifier` of LSTM layers and the last state, to rounding."""

    def __init__(self, network: Classifier, tokenizer: Tokenizer) -> None:
        lstms: list[nn.LSTM] = list(network.encoder.layers)
        with torch.inference_mode():
            self._layers = [_Layer(lstm) for lstm in lstms]
            self.head, self.bias = network.head.weight.t().contiguous(), network.head.bias
            self._projected = word_vector_cache(network, tokenizer, self._layers[0].project)
            if isinstance(tokenizer, WordTokenizer):
                # The whole vocabulary at once: it is bounded, and most of it will be met.
                self._projected.look_up(np.arange(len(tokenizer)))
        self.width: int = lstms[-1].hidden_size

    def logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Score texts encoded as the int32 ids of their words; none may be empty."""
        order = sorted(range(len(keys)), key=keys.__getitem__)
        ids, length = pad_keys([keys[i] for i in order])
        with torch.inference_mode():
            states = self._last_states(ids, length)
            out = torch.addmm(self.bias, whole_rows(states), self.head)
        logits: NDArray[np.float32] = np.empty_like(out.numpy()[: len(keys)])
        logits[order] = out.numpy()[: len(keys)]
        return logits

    def _last_states(self, ids: NDArray[np.int64], length: NDArray[np.int64]) -> Tensor:
        """Compute the last states of sorted rows; rows that begin alike share their states."""
        projected, ids = self._projected.look_up(ids)
        inside = np.arange(ids.shape[1]) < length[:, None]
        ids[~inside] = -1  # not the id of a hole at the end of a text
        is_new = np.ones(ids.shape, dtype=bool)
        np.logical_or.accumulate(ids[1:] != ids[:-1], axis=1, out=is_new[1:])
        is_new &= inside
        # The index of each row's state among the distinct states of a word.
        state = np.cumsum(is_new, axis=0) - 1
        last = self.bias.new_empty((len(ids), self.width))
        states = [(self.bias.new_zeros((1, layer.size)),) * 2 for layer in self._layers]
        ended: NDArray[Any] = np.zeros(0)
        count = 0
        for t in range(ids.shape[1]):
            rows = np.flatnonzero(is_new[:, t])
            count, count_before = len(rows), count
            rows = repeat_last(rows)
            # If none has ended and there are as many as before, each state has one successor.
            if t and (count != count_before or len(ended)):
                parent = torch.from_numpy(state[rows, t - 1])
                states = [(h.index_select(0, parent), c.index_select(0, parent)) for h, c in states]
            gates = projected.index_select(0, torch.from_numpy(ids[rows, t]))
            for n, layer in enumerate(self._layers):
                if n:
                    gates = layer.project(states[n - 1][0])
                h, c = states[n]
                states[n] = _step(gates.addmm_(h, layer.w_hh) if t else gates, c)
            ended = np.flatnonzero(length == t + 1)
            if len(ended):
                top = states[-1][0].index_select(0, torch.from_numpy(state[ended, t]))
                last.index_copy_(0, torch.from_numpy(ended), top)
        return last


class _Layer:
    """The transposed weights of one layer, its gates in our order."""

    def __init__(self, lstm: nn.LSTM) -> None:
        w_ih, w_hh, b_ih, b_hh = lstm.all_weights[0]
        self.w_ih, self.w_hh = (reorder_gates(w).t().contiguous() for w in (w_ih, w_hh))
        self.bias = reorder_gates(b_ih + b_hh)
        self.size = lstm.hidden_size

    def project(self, x: Tensor) -> Tensor:
        """Compute what the input adds to the gates."""
        return torch.addmm(self.bias, x, self.w_ih)


def _step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the next hidden state and the next cell; the gates are overwritten."""
    i, f, o, g = gates.sigmoid_().chunk(4, dim=1)
    cell = (f * cell).addcmul_(i, g, value=2).sub_(i)
    squashed = torch.mul(cell, 2).sigmoid_()
    return torch.mul(o, squashed.mul_(2).sub_(1)), cell


def reorder_gates(weight: Tensor) -> Tensor:
    """Order torch's gates i, f, g, o (rows of the weight) as i, f, o, g; double those of g.

    Doubled, the tanh of the candidate g is a sigmoid: tanh(x) = 2 sigmoid(2x) − 1.
    """
    i, f, g, o = weight.chunk(4)
    return torch.cat([i, f, o, 2 * g])
