"""LSTM layers forward and backward on the CPU, faster than torch's own.

Torch also computes the gradients of the weights, which nobody asks for here. States are stored
with a column for every text, so that each gate of all texts is one block of memory. Only sigmoids
are computed, for tanh(x) = 2 sigmoid(2x) − 1; constant factors are folded into the weights. The
input projection of a distinct word is computed once, and upper layers take their input and their
previous state in one product. This file needs torch.

With torch's own passes whole runs took longer, with equal rows: hotflip-words 1.09 and hotflip 1.15
times as long by the clock, 1.11 and 1.09 times by processor time (benchmarks/whole_runs.json).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from brittle.ranking.top_k import ROWS, Integers, whole_columns, whole_rows, whole_sigmoid_
from brittle.zoo.fast.lstm import reorder_gates, scripted
from brittle.zoo.layers import Last, LSTMEncoder
from brittle.zoo.networks import Classifier


class LstmGradients:
    """The logits of a `Classifier` of LSTM layers and the last state, and gradients back."""

    def __init__(self, network: Classifier) -> None:
        self.layers = [_Layer(lstm) for lstm in network.encoder.layers]
        self.head = whole_columns(network.head.weight.detach())
        self.bias = network.head.bias.detach()

    @staticmethod
    def fits(network: Classifier) -> bool:
        """Tell whether this is such a network."""
        is_last = isinstance(network.encoder, LSTMEncoder) and isinstance(network.pool, Last)
        return is_last and network.joined is None and network.bilm is None

    def forward(self, distinct: Tensor, inverse: Integers, length: Integers) -> LstmPass:
        """Read texts, given as rows of the vectors `distinct` (texts × words).

        Texts of one word are added up to a multiple: see `brittle.ranking.top_k`.
        """
        first, *upper = self.layers
        texts, lacking = len(inverse), -len(inverse) % ROWS
        inverse = np.pad(inverse, ((0, lacking), (0, 0)))
        length = np.pad(length, (0, lacking), constant_values=1)
        states = [first.forward(distinct, torch.from_numpy(inverse.T.copy()))]
        for layer in upper:
            states.append(layer.forward_upper(states[-1].hidden))
        end, text = torch.from_numpy(length - 1), torch.arange(len(inverse))
        last = states[-1].hidden[end, :, text]
        logits = torch.addmm(self.bias, whole_columns(last), self.head.T)[:texts]
        return LstmPass(self, end, states, logits)


@dataclass(frozen=True, eq=False)
class LstmPass:
    """A forward pass: the logits, and the states that the backward pass needs."""

    network: LstmGradients
    end: Tensor
    states: Sequence[_States]
    logits: Tensor

    def backward(self, gradient: Tensor) -> Tensor:
        """Compute the gradient along the vectors (words × size × texts) from that of the logits."""
        texts, gradient = len(gradient), whole_rows(gradient)
        below = torch.zeros_like(self.states[-1].hidden)
        at_end = (gradient @ self.network.head)[:, : below.shape[1]]
        below[self.end, :, torch.arange(len(gradient))] = at_end
        for layer, states in zip(reversed(self.network.layers), reversed(self.states)):
            below = layer.backward(states, below)
        return below[:, :, :texts]


class _States(NamedTuple):
    """The states of a layer at every word: words × size × texts, and 4 · size for the gates.

    The gates i, f, o and g (input, forget, output, candidate) are sigmoids, and so is `squashed`:
    tanh of the cell is 2 squashed − 1, and the candidate is 2 g − 1.
    """

    gates: Tensor
    cell: Tensor
    squashed: Tensor
    hidden: Tensor

    @staticmethod
    def empty(words: int, size: int, texts: int, like: Tensor) -> _States:
        return _States(*(like.new_empty((words, n * size, texts)) for n in (4, 1, 1, 1)))


class _Layer:
    """One LSTM layer: `w_ih` and `w_hh` as torch has them, the gates in our order."""

    def __init__(self, lstm: nn.LSTM) -> None:
        w_ih, w_hh, b_ih, b_hh = (weight.detach() for weight in lstm.all_weights[0])
        self.size = lstm.hidden_size
        self.w_ih, self.w_hh, self.bias = map(reorder_gates, (w_ih, w_hh, b_ih + b_hh))
        self.w_both = torch.cat([self.w_ih, self.w_hh], dim=1)
        # `backward` multiplies i, f and g with a quarter of the cell's gradient; the candidate
        # 2 g − 1 adds a factor of 2.
        scale = self.w_both.new_tensor([4, 4, 1, 8]).repeat_interleave(self.size)
        self.w_backward = (self.w_both * scale[:, None]).T.contiguous()

    def forward(self, distinct: Tensor, inverse: Tensor) -> _States:
        """Read words, given as rows of the vectors `distinct` (words × texts)."""
        projected = torch.addmm(self.bias, whole_rows(distinct), self.w_ih.T)
        states = _States.empty(len(inverse), self.size, inverse.shape[1], projected)
        _read(projected, inverse, self.w_hh, *states)
        return states

    def forward_upper(self, below: Tensor) -> _States:
        """Read the hidden states of the layer below."""
        words, _, texts = below.shape
        states = _States.empty(words, self.size, texts, below)
        _read_upper(below, self.bias, self.w_both, *states)
        return states

    def backward(self, states: _States, gradient: Tensor) -> Tensor:
        """Compute the gradient along the layer's input from that along its hidden states."""
        return _backward(gradient, self.w_backward, *states[:3])


def _step(word: int, gates: Tensor, cell: Tensor, squashed: Tensor, hidden: Tensor) -> None:
    """Compute cell = i (2 g − 1) + f cell' and hidden = o (2 squashed − 1)."""
    new = cell[word]
    i, f, o, g = whole_sigmoid_(gates[word]).chunk(4)
    torch.addcmul(i, i, g, value=-2, out=new).neg_()
    if word > 0:
        new.addcmul_(f, cell[word - 1])
    tanh = whole_sigmoid_(torch.add(new, new, out=squashed[word]))
    torch.addcmul(o, o, tanh, value=-2, out=hidden[word]).neg_()


@scripted
def _read(
    projected: Tensor,
    inverse: Tensor,
    w_hh: Tensor,
    gates: Tensor,
    cell: Tensor,
    squashed: Tensor,
    hidden: Tensor,
) -> None:
    """Fill the states of the first layer, from the input projections of its words."""
    for word in range(inverse.size(0)):
        from_input = projected.index_select(0, inverse[word]).t()
        if word > 0:
            torch.addmm(from_input, w_hh, hidden[word - 1], out=gates[word])
        else:
            gates[word].copy_(from_input)
        _step(word, gates, cell, squashed, hidden)


@scripted
def _read_upper(
    below: Tensor,
    bias: Tensor,
    w_both: Tensor,
    gates: Tensor,
    cell: Tensor,
    squashed: Tensor,
    hidden: Tensor,
) -> None:
    """Fill the states of an upper layer, from the hidden states of the layer below."""
    size = below.size(1)
    both = torch.zeros([w_both.size(1), below.size(2)], dtype=below.dtype)
    for word in range(below.size(0)):
        both[:size].copy_(below[word])
        if word > 0:
            both[size:].copy_(hidden[word - 1])
        torch.addmm(bias[:, None], w_both, both, out=gates[word])
        _step(word, gates, cell, squashed, hidden)


@scripted
def _backward(
    gradient: Tensor, w_backward: Tensor, all_gates: Tensor, cell: Tensor, all_squashed: Tensor
) -> Tensor:
    """Compute the gradient along the input of a layer, from the last word to the first."""
    words, size, texts = gradient.shape
    input_size = w_backward.size(0) - size
    result = gradient.new_empty([words, input_size, texts])
    d_gates = gradient.new_empty([4 * size, texts])
    d_i, d_f, d_o, d_g = d_gates.chunk(4)
    d_cell, buffer = gradient.new_zeros([size, texts]), gradient.new_empty([size, texts])
    d_both = gradient.new_zeros([input_size + size, texts])
    d_hidden = d_both[input_size:]
    for n in range(words):
        word = words - 1 - n
        gates, squashed = all_gates[word], all_squashed[word]
        i, f, o, g = gates.chunk(4)
        d_hidden.add_(gradient[word])
        # The derivative of a sigmoid s is s (1 − s).
        torch.addcmul(gates, gates, gates, value=-1, out=d_gates)
        d_o.mul_(torch.add(squashed, squashed, out=buffer).sub_(1)).mul_(d_hidden)
        # 1 − tanh² is 4 s (1 − s); the 4 is in `w_backward`, so d_cell is a quarter.
        torch.addcmul(squashed, squashed, squashed, value=-1, out=buffer)
        d_cell.add_(buffer.mul_(o).mul_(d_hidden))
        d_g.mul_(i).mul_(d_cell)
        d_i.mul_(torch.add(g, g, out=buffer).sub_(1)).mul_(d_cell)
        if word > 0:
            d_f.mul_(cell[word - 1]).mul_(d_cell)
        else:
            d_f.zero_()
        d_cell.mul_(f)
        torch.mm(w_backward, d_gates, out=d_both)
        result[word].copy_(d_both[:input_size])
    return result
