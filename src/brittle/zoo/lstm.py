"""A one-layer LSTM for scoring on the CPU, faster than torch's own on an attack's texts.

Three things make it so. The words' input projections are computed once, when the model is opened.
Everything is a sigmoid, for torch's tanh is much slower: tanh(x) = 2 sigmoid(2x) − 1, with
the inner factor 2 folded into the weights. And texts that begin alike share the states of their
common words: candidates of one attack differ in a word or two. benchmarks/RESULTS.md has both
times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.zoo.networks import Classifier


class FastLstm:
    """The logits of a `Classifier` over a one-layer LSTM, to rounding."""

    def __init__(self, network: Classifier) -> None:
        lstm: nn.LSTM = network.encoder.layers[0]
        assert network.embedding is not None
        with torch.inference_mode():
            weight_in, weight_back, bias_in, bias_back = lstm.all_weights[0]
            words = torch.addmm(bias_in + bias_back, network.embedding.weight, weight_in.t())
            self.words = _gates(words)
            self.back = _gates(weight_back.t())
            self.head, self.bias = network.head.weight.t().contiguous(), network.head.bias
        self.width: int = lstm.hidden_size

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
        fresh = np.ones(ids.shape, dtype=bool)
        np.logical_or.accumulate(ids[1:] != ids[:-1], axis=1, out=fresh[1:])
        fresh &= inside
        # The place of each row's state among the fresh ones, step by step.
        place = np.cumsum(fresh, axis=0) - 1
        last = torch.empty((len(ids), self.width))
        h = c = torch.zeros((1, self.width))
        ended: NDArray[Any] = np.zeros(0)
        for t in range(ids.shape[1]):
            rows = np.flatnonzero(fresh[:, t])
            gates = self.words.index_select(0, torch.from_numpy(ids[rows, t]))
            if t:
                # As many states as before, and all of them gone on: each has one successor.
                if len(rows) != len(h) or len(ended):
                    parent = torch.from_numpy(place[rows, t - 1])
                    h, c = h.index_select(0, parent), c.index_select(0, parent)
                gates.addmm_(h, self.back)
            h, c = self._step(gates, c)
            ended = np.flatnonzero(length == t + 1)
            if len(ended):
                states = h.index_select(0, torch.from_numpy(place[ended, t]))
                last.index_copy_(0, torch.from_numpy(ended), states)
        return last

    def _step(self, gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        let_in, keep, out, new = gates.sigmoid_().chunk(4, dim=1)
        c = (keep * c).addcmul_(let_in, new, value=2).sub_(let_in)
        seen = torch.mul(c, 2).sigmoid_()
        return torch.mul(out, seen.mul_(2).sub_(1)), c


def _gates(weight: Tensor) -> Tensor:
    """Order torch's gates (in, forget, new, out) as in, forget, out, new; double the new one."""
    let_in, keep, new, out = weight.chunk(4, dim=1)
    return torch.cat([let_in, keep, out, 2 * new], dim=1).contiguous()
