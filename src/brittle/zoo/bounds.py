"""What a network can predict for any text of a space of swaps, by interval bounds (IBP).

Interval arithmetic through the layers of a network: boxes in, boxes out (IBP).

A box holds for every number the lowest and the highest value that it can have. What comes out of a
layer contains every value that the network computes from any point of the box that went in, in
single precision too: each operation is widened outward by a bound of its own rounding error. Boxes
are in double precision, batch × words × features. This file needs torch.

What a network can predict for any text of a space of swaps, by interval bounds.

What a word adds to the first layer lies in the box around what it and all its candidates add (Jia
et al., 2019; Huang et al., 2019). The box is propagated to the margins: the logit of another class
minus that of the text's own. If all margins stay below zero, no text of the space has another
class. For few swaps there is a box for every set of positions; it is far tighter, since all other
positions stay as they are. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, islice
from math import comb
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import conv1d, pad

from brittle.spaces import SMALLEST_MARGIN, Bounded, BoundRequest, PositionSet, SwapSpace
from brittle.zoo.fast.cnn import compute_word_vectors
from brittle.zoo.layers import AverageEncoder, BiLSTMEncoder, CNNEncoder, Last, Maximum
from brittle.zoo.networks import Classifier
from brittle.zoo.scoring import NetworkModel

UNIT = 2.0**-24
"""The largest relative error of one operation in single precision."""
MORE_OPERATIONS = 8
"""How many operations one step of a network may take besides the dot product."""
FUNCTION_ERROR = 1e-6
"""The largest error of a sigmoid, a tanh or a mean: a few units in the last place."""


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


MAX_SETS = 2000
"""With more sets of positions than this, all positions share one box."""
SETS_PER_PASS = 128
SPELLING_ERROR = 1e-5
"""The largest relative error of a vector computed from a spelling."""


def has_bounds(parts: Mapping[str, Any]) -> bool:
    """Tell by a network's parts whether bounds can be propagated through it."""
    known = parts["encoder"] in ("Average", "LSTM", "BiLSTM", "CNN")
    pooled = parts["head"] in ("last", "max", "mean")
    return known and pooled and "pair" not in parts and parts.get("embedding") != "ELMo"


class NetworkBounds:
    """Bounds of a network's margins over spaces of swaps."""

    def __init__(self, model: NetworkModel) -> None:
        self.model = model
        self.network: Classifier = model.network
        self.weight = self.network.head.weight.detach().double().cpu()
        self.bias = self.network.head.bias.detach().double().cpu()

    def bound(self, request: BoundRequest) -> Bounded:
        """Return which sets of positions can change the class, as far as bounds tell."""
        space = request.space
        boxes = PositionBoxes(self.model, space)
        if not self.open_sets(request, boxes, [boxes.positions]):
            return Bounded(space.words, ())
        words = min(space.words, len(boxes.positions))
        if words == len(boxes.positions) or comb(len(boxes.positions), words) > MAX_SETS:
            return Bounded()
        open_sets = self.open_sets(request, boxes, list(combinations(boxes.positions, words)))
        return Bounded(0 if open_sets else space.words, tuple(open_sets))

    def open_sets(
        self, request: BoundRequest, boxes: PositionBoxes, sets: Sequence[PositionSet]
    ) -> list[PositionSet]:
        """Return the sets of positions whose box is not known to keep the class."""
        left: list[PositionSet] = []
        remaining = iter(sets)
        while part := list(islice(remaining, SETS_PER_PASS)):
            margin = self.margins(boxes.of(part), request)
            safe = (margin < -SMALLEST_MARGIN).all(dim=1)
            left += [one for one, is_safe in zip(part, safe) if not is_safe]
        return left

    @torch.no_grad()
    def margins(self, box: Box, request: BoundRequest) -> Tensor:
        """Return the highest margin of every rival class, for every box (boxes × rivals)."""
        sentence = self.sentence(box)
        rivals, label = request.rivals(len(self.bias)), request.label
        weight = self.weight[rivals] - self.weight[label]
        sizes = self.weight[rivals].abs() + self.weight[label].abs()
        centre, radius = (sentence.low + sentence.high) / 2, (sentence.high - sentence.low) / 2
        terms = (weight.shape[1] + MORE_OPERATIONS) * UNIT
        error = terms * (sentence.size @ sizes.T + self.bias.abs().sum())
        offset = self.bias[rivals] - self.bias[label]
        return centre @ weight.T + offset + radius @ weight.abs().T + error

    def sentence(self, first: Box) -> Box:
        """Propagate what words add to the first layer to the vector that the last layer reads."""
        encoder, head = self.network.encoder, self.network.pool
        if isinstance(encoder, CNNEncoder):
            return _convolutions(first, encoder, head)
        if isinstance(encoder, AverageEncoder):
            return mean(first)
        if isinstance(encoder, BiLSTMEncoder):
            return _both_ways(first, list(zip(encoder.ahead, encoder.back)), head)
        for number, layer in enumerate(encoder.layers):
            first = states = lstm(_entering(first, layer) if number else first, layer)
        return _pooled(states, head)


def _convolutions(first: Box, encoder: CNNEncoder, head: Any) -> Box:
    """Propagate through convolutions, and the maxima of their windows or another head."""
    words, widest = first.low.shape[1], encoder.min_words
    # Another head takes the windows that begin at a word, and these may reach beyond the end.
    after = max(0, widest - words) if isinstance(head, Maximum) else widest - 1
    layers: list[Any] = list(encoder.convolutions)
    for number, layer in enumerate(list[Any](encoder.below)):
        box = padded(first, 1, 1)
        own = convolved(box, layer) if number else windows(box, layer)
        own = own.map(torch.relu)
        first = added(own, first) if number else own
    box = padded(first, 0, after)
    if encoder.below:
        states = [convolved(box, layer) for layer in layers]
    else:
        sizes = [layer.out_channels * layer.kernel_size[0] for layer in layers]
        parts = zip(torch.split(box.low, sizes, 2), torch.split(box.high, sizes, 2), layers)
        states = [windows(Box(low, high), layer) for low, high, layer in parts]
    pooled = [_pooled(one.map(torch.relu), head, words) for one in states]
    return Box(*(torch.cat(part, dim=1) for part in zip(*pooled)))


def _both_ways(first: Box, layers: Sequence[tuple[Any, Any]], head: Any) -> Box:
    """Propagate through layers of two LSTMs; their states stand side by side."""
    for number, (ahead, back) in enumerate(layers):
        if number:
            entering = [_entering(first, layer) for layer in (ahead, back)]
        else:
            halves = zip(*(part.chunk(2, dim=2) for part in first))
            entering = [Box(low, high) for low, high in halves]
        forward = lstm(entering[0], ahead)
        backward = lstm(entering[1], back, backward=True)
        first = Box(*(torch.cat(part, dim=2) for part in zip(forward, backward)))
    if isinstance(head, Last):
        ends = zip(forward.map(lambda x: x[:, -1]), backward.map(lambda x: x[:, 0]))
        return Box(*(torch.cat(part, dim=1) for part in ends))
    return _pooled(first, head)


def _entering(states: Box, layer: Any) -> Box:
    """Compute what states add to the gates of the next LSTM, without its bias."""
    w_ih = layer.all_weights[0][0].detach().double()
    return affine(states, w_ih, w_ih.new_zeros(len(w_ih)))


def _pooled(states: Box, head: Any, words: int | None = None) -> Box:
    """Pool the states of words; of windows, those that begin at one of so many words."""
    if isinstance(head, Maximum):
        return highest(states)
    own = states.map(lambda x: x[:, :words])
    return own.map(lambda x: x[:, -1]) if isinstance(head, Last) else mean(own)


def first_weight(encoder: Any) -> tuple[Tensor | None, int]:
    """Return the matrix (features × vector) by which words enter the encoder, None if they do as
    they are, and how many products a number of the first layer is a sum of."""
    if isinstance(encoder, AverageEncoder):
        return None, 0
    if isinstance(encoder, CNNEncoder):
        layers: list[Any] = list(encoder.below)[:1] or list(encoder.convolutions)
        # Offsets × filters are the features of a word.
        parts = [layer.weight.permute(2, 0, 1).flatten(0, 1) for layer in layers]
        terms = max(layer.weight[0].numel() for layer in layers)
    else:
        is_both = isinstance(encoder, BiLSTMEncoder)
        own: list[Any] = [encoder.ahead[0], encoder.back[0]] if is_both else [encoder.layers[0]]
        parts = [layer.all_weights[0][0] for layer in own]
        terms = parts[0].shape[1]
    return torch.cat(parts).detach().double().cpu(), terms


class PositionBoxes:
    """What words add to the first layer, and for every position the box around all candidates."""

    def __init__(self, model: NetworkModel, space: SwapSpace) -> None:
        [(read, columns)] = model.columns(space.text)
        self.column = dict(zip(read, columns))
        self.positions = tuple(i for i in space.positions if i in self.column)
        ids = np.frombuffer(model.encode([space.text])[0], np.int32)
        token_id = model.tokenizer.token_id
        candidates = [token_id(word) for i in self.positions for word in space.options[i]]
        every = np.concatenate([ids, np.array(candidates, dtype=np.int32)]).astype(np.int64)
        added = _added_by(model, every)
        self.words = added.map(lambda x: x[: len(ids)])
        self.swapped: dict[int, tuple[Tensor, Tensor]] = {}
        start = len(ids)
        for i in self.positions:
            rows = [self.column[i], *range(start, start + len(space.options[i]))]
            start += len(space.options[i])
            self.swapped[i] = (added.low[rows].amin(dim=0), added.high[rows].amax(dim=0))

    def of(self, sets: Sequence[PositionSet]) -> Box:
        """Build a box for every set of positions whose words may be swapped."""
        box = self.words.map(lambda x: x.expand(len(sets), -1, -1).clone())
        for n, positions in enumerate(sets):
            for i in positions:
                box.low[n, self.column[i]], box.high[n, self.column[i]] = self.swapped[i]
        return box


def _added_by(model: NetworkModel, ids: NDArray[np.int64]) -> Box:
    """Return what words, by their token ids, add to the first layer; each has a row.

    The vectors of spellings are computed, and so not exact.
    """
    distinct, rows = np.unique(ids, return_inverse=True)
    network = model.network
    vectors = compute_word_vectors(network, model.tokenizer, distinct).double().cpu()
    error = 0.0 if network.spelling is None else SPELLING_ERROR * (1 + vectors.abs())
    box = Box(vectors, vectors).widened(error)
    weight, terms = first_weight(network.encoder)
    if weight is not None:
        entering = affine(box, weight, weight.new_zeros(len(weight)))
        # The sum over a window has more terms than that over the vector of one word.
        box = entering.widened(terms * UNIT * (box.size @ weight.abs().T))
    return box.map(lambda x: x[rows])
