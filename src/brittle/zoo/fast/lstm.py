"""LSTMs for scoring on the CPU, faster than torch's own on an attack's texts.

Three things make it so. The first layer's input projection of a word is computed once. Everything
is a sigmoid, for torch's tanh is much slower: tanh(x) = 2 sigmoid(2x) − 1, with the inner factor 2
folded into the weights. And texts that begin alike share the states of their common words:
candidates of one attack differ in a word or two. benchmarks/RESULTS.md has both times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.zoo.batches import Tokenizer
from brittle.zoo.fast.word_vectors import word_vector_cache
from brittle.zoo.networks import Classifier
from brittle.zoo.tokenizers.words import WordTokenizer


class FastLstm:
    """The logits of a `Classifier` that reads LSTMs at the last word, to rounding."""

    def __init__(self, network: Classifier, reader: Tokenizer) -> None:
        lstms: list[nn.LSTM] = list(network.encoder.layers)
        with torch.inference_mode():
            self._layers = [_ForwardLayer(lstm) for lstm in lstms]
            self.head, self.bias = network.head.weight.t().contiguous(), network.head.bias
            self._table = word_vector_cache(network, reader, self._layers[0].entered)
            if isinstance(reader, WordTokenizer):
                # All of a vocabulary in one go: it is bounded, and most of it will be met.
                self._table.of(np.arange(len(reader)))
        self.width: int = lstms[-1].hidden_size

    def logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Score texts given as the int32 numbers of their words; none may be empty."""
        order = sorted(range(len(keys)), key=keys.__getitem__)
        length = np.array([len(keys[i]) >> 2 for i in order])
        ids = np.zeros((len(keys), int(length.max())), dtype=np.int64)
        flat = np.frombuffer(b"".join([keys[i] for i in order]), dtype=np.int32)
        inside = np.arange(ids.shape[1]) < length[:, None]
        ids[inside] = flat
        with torch.inference_mode():
            states = self._last_states(ids, length, inside)
            out = torch.addmm(self.bias, states, self.head)
        logits = np.empty(out.shape, dtype=np.float32)
        logits[order] = out.numpy()
        return logits

    def _last_states(
        self, ids: NDArray[np.int64], length: NDArray[Any], inside: NDArray[np.bool_]
    ) -> Tensor:
        """Step through sorted rows; a state is computed once for all rows that begin alike."""
        words, ids = self._table.of(ids)
        fresh = np.ones(ids.shape, dtype=bool)
        np.logical_or.accumulate(ids[1:] != ids[:-1], axis=1, out=fresh[1:])
        fresh &= inside
        # The place of each row's state among the fresh ones, step by step.
        position = np.cumsum(fresh, axis=0) - 1
        last = torch.empty((len(ids), self.width))
        states = [(torch.zeros((1, layer.width)),) * 2 for layer in self._layers]
        ended: NDArray[Any] = np.zeros(0)
        for t in range(ids.shape[1]):
            rows = np.flatnonzero(fresh[:, t])
            # As many states as before, and all of them gone on: each has one successor.
            if t and (len(rows) != len(states[0][0]) or len(ended)):
                parent = torch.from_numpy(position[rows, t - 1])
                states = [(h.index_select(0, parent), c.index_select(0, parent)) for h, c in states]
            gates = words.index_select(0, torch.from_numpy(ids[rows, t]))
            for n, layer in enumerate(self._layers):
                if n:
                    gates = layer.entered(states[n - 1][0])
                h, c = states[n]
                states[n] = _step(gates.addmm_(h, layer.back) if t else gates, c)
            ended = np.flatnonzero(length == t + 1)
            if len(ended):
                top = states[-1][0].index_select(0, torch.from_numpy(position[ended, t]))
                last.index_copy_(0, torch.from_numpy(ended), top)
        return last


class _ForwardLayer:
    """The weights of one layer, its gates in our order."""

    def __init__(self, lstm: nn.LSTM) -> None:
        weight_in, weight_back, bias_in, bias_back = lstm.all_weights[0]
        self.into = _gates(weight_in.t())
        self.bias = _gates((bias_in + bias_back)[None])[0]
        self.back = _gates(weight_back.t())
        self.width = lstm.hidden_size

    def entered(self, x: Tensor) -> Tensor:
        """Give what the input adds to the gates."""
        return torch.addmm(self.bias, x, self.into)


def _step(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    let_in, keep, out, new = gates.sigmoid_().chunk(4, dim=1)
    c = (keep * c).addcmul_(let_in, new, value=2).sub_(let_in)
    seen = torch.mul(c, 2).sigmoid_()
    return torch.mul(out, seen.mul_(2).sub_(1)), c


def _gates(weight: Tensor) -> Tensor:
    """Order torch's gates (in, forget, new, out) as in, forget, out, new; double the new one."""
    let_in, keep, new, out = weight.chunk(4, dim=1)
    return torch.cat([let_in, keep, out, 2 * new], dim=1).contiguous()
