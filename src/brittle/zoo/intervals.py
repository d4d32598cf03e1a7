"""Interval arithmetic through the layers of a network: boxes in, boxes out (IBP).

A box holds for every number the lowest and the highest value that it can have. What comes out of a
layer contains every value that the network computes from any point of the box that went in, in
single precision too: each operation is widened outward by a bound of its own rounding error. Boxes
are in double precision, batch × words × features. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, pad

UNIT = 2.0**-24
"""The largest relative error of one operation in single precision."""
MORE_OPERATIONS = 8
"""How many operations beside those of a dot product one step of a network may take."""
FUNCTION_ERROR = 1e-6
"""The largest error of a sigmoid, a tanh or a mean; theirs is some units in the last place."""


class Box(NamedTuple):
    """The lowest and the highest values, of one shape."""

    low: Tensor
    high: Tensor

    @property
    def size(self) -> Tensor:
        """The largest absolute value of every number."""
        return torch.maximum(self.low.abs(), self.high.abs())

    def map(self, function: Callable[[Tensor], Tensor]) -> Box:
        """Apply a function that keeps the order of numbers and rounds nothing."""
        return Box(function(self.low), function(self.high))

    def widened(self, error: Tensor | float) -> Box:
        return Box(self.low - error, self.high + error)


def affine(box: Box, weight: Tensor, bias: Tensor) -> Box:
    """Multiply by a matrix (out × in) and add a bias."""
    return _linear(box, bias, weight.shape[1], lambda x: x @ weight.T, lambda x: x @ weight.abs().T)


def convolved(box: Box, layer: nn.Conv1d) -> Box:
    """Apply a convolution over words, without its padding."""
    assert layer.bias is not None
    weight = layer.weight.detach().double()

    def over_words(weight: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda x: conv1d(x.transpose(1, 2), weight).transpose(1, 2)

    terms = weight.shape[1] * weight.shape[2]
    products = over_words(weight), over_words(weight.abs())
    return _linear(box, layer.bias.detach().double(), terms, *products)


def _linear(
    box: Box,
    bias: Tensor,
    terms: int,
    multiply: Callable[[Tensor], Tensor],
    multiply_sizes: Callable[[Tensor], Tensor],
) -> Box:
    """Map the centre by the weights and the radius by their sizes; add what rounding may add."""
    centre = multiply((box.low + box.high) / 2) + bias
    # A sum of n products in any order errs by at most about n units of the sum of their sizes.
    error = (terms + MORE_OPERATIONS) * UNIT * (multiply_sizes(box.size) + bias.abs())
    radius = multiply_sizes((box.high - box.low) / 2) + error
    return Box(centre - radius, centre + radius)


def added(a: Box, b: Box) -> Box:
    """Add two boxes."""
    total = Box(a.low + b.low, a.high + b.high)
    return total.widened(UNIT * (a.size + b.size))


def scaled(gate: Box, box: Box) -> Box:
    """Multiply by a gate, whose numbers are from 0 to 1."""
    low = torch.minimum(gate.low * box.low, gate.high * box.low)
    high = torch.maximum(gate.low * box.high, gate.high * box.high)
    return Box(low, high).widened(4 * UNIT * box.size)


def sigmoid(box: Box) -> Box:
    widened = box.map(torch.sigmoid).widened(FUNCTION_ERROR)
    return Box(widened.low.clamp(min=0.0), widened.high.clamp(max=1.0))


def tanh(box: Box) -> Box:
    return box.map(torch.tanh).widened(FUNCTION_ERROR)


def lstm(projected: Box, layer: nn.LSTM, backward: bool = False) -> Box:
    """Read words by an LSTM, from what they add to its gates; its bias is added here.

    The states stand in the order of the words, also if they are read backward.
    """
    _, w_hh, b_ih, b_hh = (part.detach().double() for part in layer.all_weights[0])
    hidden = cell = projected.map(lambda x: x.new_zeros((len(x), layer.hidden_size)))
    states: list[Box] = []
    words = range(projected.low.shape[1])
    for n in reversed(words) if backward else words:
        own = Box(projected.low[:, n], projected.high[:, n])
        gates = added(own, affine(hidden, w_hh, b_ih + b_hh))
        parts = zip(gates.low.chunk(4, dim=1), gates.high.chunk(4, dim=1))
        i, f, g, o = (Box(low, high) for low, high in parts)
        cell = added(scaled(sigmoid(f), cell), scaled(sigmoid(i), tanh(g)))
        cell = cell.widened(4 * FUNCTION_ERROR)
        hidden = scaled(sigmoid(o), tanh(cell))
        states.append(hidden)
    ordered = states[::-1] if backward else states
    return Box(*(torch.stack(part, dim=1) for part in zip(*ordered)))


def windows(projected: Box, layer: nn.Conv1d) -> Box:
    """Sum the words of every window, from what a word adds at every offset of a window.

    The features of a word are offsets × filters. The bias of the layer is added.
    """
    assert layer.bias is not None
    width, count = layer.kernel_size[0], projected.low.shape[1] - layer.kernel_size[0] + 1
    bias = layer.bias.detach().double()

    def summed(x: Tensor) -> Tensor:
        by_offset = x.reshape(*x.shape[:2], width, -1)
        return bias + torch.stack([by_offset[:, n : n + count, n] for n in range(width)]).sum(0)

    return projected.map(summed).widened(MORE_OPERATIONS * UNIT * bias.abs())


def padded(box: Box, before: int, after: int) -> Box:
    """Add words of zeros on both sides."""
    return box.map(lambda x: pad(x, (0, 0, before, after)))


def highest(box: Box) -> Box:
    """Take the maximum of every feature over the words."""
    return box.map(lambda x: x.amax(dim=1))


def mean(box: Box) -> Box:
    """Take the mean of every feature over the words."""
    terms = box.low.shape[1] + MORE_OPERATIONS
    error = FUNCTION_ERROR + terms * UNIT * box.size.mean(dim=1)
    return box.map(lambda x: x.mean(dim=1)).widened(error)
