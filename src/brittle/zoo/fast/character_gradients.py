"""The character CNN forward and backward: vectors of distinct words, gradients of characters.

It computes the same numbers as `layers.characters.CharacterCNN` and its automatic gradient, but
faster. A word that stands at many positions is read once. What a character adds to a window is
looked up, not multiplied. The backward pass visits only the words that are asked for, and only the
windows that are a maximum. This file needs torch, and works on the CPU, where look-ups are quick.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from brittle.ranking.top_k import Integers, ragged_rows, whole_rows
from brittle.zoo.layers import CharacterCNN

MAX_TABLE_ENTRIES = 1 << 23  # words × kernels or characters × window, of a backward pass: 32 MB


@dataclass(frozen=True, eq=False)
class _Highway:
    """The weights of one highway layer: y = g · relu(T x) + (1 − g) · x with the gate g."""

    transform: Tensor
    transform_bias: Tensor
    gate: Tensor
    gate_bias: Tensor

    def forward(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
        """Compute y, and its derivatives along x (directly), T x and the gate's input."""
        rows, x = len(x), whole_rows(x)
        gate = torch.addmm(self.gate_bias, x, self.gate.T).sigmoid_()
        transformed = torch.addmm(self.transform_bias, x, self.transform.T).relu_()
        carry = 1 - gate
        change = transformed - x
        y = x + gate * change
        parts = (y, carry, gate * (transformed > 0), change.mul_(gate).mul_(carry))
        y, *derivatives = (part[:rows] for part in parts)
        return y, (derivatives[0], derivatives[1], derivatives[2])

    def backward(self, gradient: Tensor, derivatives: Sequence[Tensor]) -> Tensor:
        """Compute the gradient along x from that along y; the derivatives are overwritten."""
        parts = (part.mul_(gradient) for part in derivatives)
        carry, transformed, gate = map(whole_rows, parts)
        result = carry.addmm_(transformed, self.transform).addmm_(gate, self.gate)
        return result[: len(gradient)]


class CharacterPasses:
    """Reads spellings with the weights that a network has now."""

    def __init__(self, network: CharacterCNN) -> None:
        def fixed(weight: Tensor) -> Tensor:
            return weight.detach().cpu()

        self.window, self.kernels = network.window, network.width
        self.table = fixed(network.embedding.weight)
        self.size = self.table.shape[1]
        self.filters = fixed(network.convolution.weight)
        self.bias = fixed(network.convolution.bias)
        highways: list[Any] = list(network.highways)
        self.highways = [
            _Highway(
                *(fixed(w) for part in (h.transform, h.gate) for w in (part.weight, part.bias))
            )
            for h in highways
        ]
        # What a character adds at each offset in a window: (character, offset) × kernels.
        filters = self.filters.view(self.kernels, self.window, self.size)
        self.products = torch.einsum("cd,kwd->cwk", self.table, filters).reshape(-1, self.kernels)

    def forward(self, characters: Integers) -> CharacterStates:
        """Read spellings: a row of character ids each, 0 after the end."""
        length = (characters != 0).sum(axis=1)
        order = np.argsort(length, kind="stable")
        count = length[order]
        first = np.empty_like(length)
        first[order] = np.cumsum(count) - count
        word, start = ragged_rows(count)
        padded = np.pad(characters, ((0, 0), (0, self.window - 1)))
        offset = np.arange(self.window)
        ids = padded[order[word][:, None], start[:, None] + offset] * self.window + offset
        with torch.no_grad():
            response = embedding_bag(torch.from_numpy(ids), self.products, mode="sum")
            maximum = response.new_zeros((len(length), self.kernels))
            for rows, words, n in _groups_of_one_length(count):
                grouped = response[rows].view(words.stop - words.start, n, -1)
                maximum[torch.from_numpy(order[words])] = grouped.amax(dim=1)
            # Adding the bias and the tanh keep the order, so they may come after the maximum.
            pooled, is_padding = torch.tanh(maximum + self.bias), torch.from_numpy(length == 0)
            pooled[is_padding] = 0.0
            layers, derivatives = [pooled], []
            for highway in self.highways:
                y, derivative = highway.forward(layers[-1])
                y[is_padding] = 0.0
                layers.append(y)
                derivatives.append(derivative)
        return CharacterStates(self, length, order, first, response, maximum, layers, derivatives)


@dataclass(frozen=True, eq=False)
class CharacterStates:
    """Spellings after the forward pass.

    `response` has a row for every window of every word (windows × kernels), the words in `order`,
    those of a word from the row `first` on; `maximum` is words × kernels. `layers` are the pooled
    vectors of the words and those after each highway, `derivatives` those of each highway.
    """

    passes: CharacterPasses
    length: Integers
    order: Integers
    first: Integers
    response: Tensor
    maximum: Tensor
    layers: Sequence[Tensor]
    derivatives: Sequence[tuple[Tensor, Tensor, Tensor]]

    @property
    def vectors(self) -> Tensor:
        """Return the vectors of the words after the last highway."""
        return self.layers[-1]

    def backward(self, words: Integers, gradient: Tensor, max_characters: int) -> Tensor:
        """Compute the gradient along the characters of words, from that along their vectors.

        `words` are indices of spellings, one for every row of `gradient`; they may come again. The
        result has a row for every character and, for words shorter than `max_characters`, one for
        the end of the word. Of two windows that are the maximum, the first has the gradient.
        """
        width = max(self.passes.kernels, self.passes.filters.shape[1])
        with torch.no_grad():
            parts = [
                self._backward(words[part], gradient[part], max_characters)
                for part in _split_by_characters(self.length[words], MAX_TABLE_ENTRIES // width)
            ]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _backward(self, words: Integers, gradient: Tensor, max_characters: int) -> Tensor:
        passes, index = self.passes, torch.from_numpy(words)
        rank, kernels, kernels_per_window = self._winning_kernels
        for highway, parts in zip(reversed(passes.highways), reversed(self.derivatives)):
            gradient = highway.backward(gradient, [part.index_select(0, index) for part in parts])
        pooled = self.layers[0].index_select(0, index)
        weight = gradient * (1 - pooled * pooled)
        kernel = kernels.index_select(0, torch.from_numpy(rank[words]))
        count = self.length[words]
        word, start = ragged_rows(count)
        bag_sizes = kernels_per_window[self.first[words][word] + start]
        # A bag for every window: the kernels whose maximum it is. The last bag is empty, for the
        # characters that stand at some offset of no window.
        by_window = embedding_bag(
            kernel.view(-1),
            passes.filters,
            torch.from_numpy(np.append(0, np.cumsum(bag_sizes))),
            mode="sum",
            per_sample_weights=weight.gather(1, kernel).view(-1),
        )
        # A character stands at offset w of the window that starts w characters before it.
        first = np.cumsum(count) - count
        word, character = ragged_rows(np.minimum(count + 1, max_characters))
        offset = np.arange(passes.window)
        start = character[:, None] - offset
        inside = (start >= 0) & (start < count[word][:, None])
        row = (first[word][:, None] + start) * passes.window + offset
        row = np.where(inside, row, len(by_window) * passes.window - 1)
        return embedding_bag(torch.from_numpy(row), by_window.view(-1, passes.size), mode="sum")

    @cached_property
    def _winning_kernels(self) -> tuple[Integers, Tensor, Integers]:
        """Find the window in which each kernel has its maximum.

        Returns the rank of every spelling among those that are not empty, their kernels in the
        order of their windows (spellings × kernels), and the number of kernels of each window.
        """
        word = torch.from_numpy(self.order[ragged_rows(self.length[self.order])[0]])
        wins = self.response == self.maximum.index_select(0, word)
        filled, kernels = int((self.length > 0).sum()), self.passes.kernels
        row, kernel = wins.nonzero().T
        if len(row) != filled * kernels:
            row, kernel = self._first_wins().nonzero().T
        rank = np.empty_like(self.order)
        rank[self.order] = np.arange(len(self.order)) - (len(self.order) - filled)
        per_window = torch.bincount(row, minlength=len(word)).numpy()
        return rank, kernel.reshape(filled, kernels), per_window

    def _first_wins(self) -> Tensor:
        """Tell for every window and kernel whether it is the first maximum of its word."""
        wins = torch.zeros_like(self.response, dtype=torch.bool)
        for rows, words, n in _groups_of_one_length(self.length[self.order]):
            shape = (words.stop - words.start, n, self.passes.kernels)
            first = self.response[rows].view(shape).argmax(dim=1, keepdim=True)
            wins[rows].view(shape).scatter_(1, first, True)
        return wins


def _groups_of_one_length(count: Integers) -> Iterator[tuple[slice, slice, int]]:
    """Group words sorted by length: the rows of their windows, the words, and their length."""
    value, first, times = np.unique(count, return_index=True, return_counts=True)
    row = 0
    for n, start, words in zip(value.tolist(), first.tolist(), times.tolist()):
        if n:
            yield slice(row, row + n * words), slice(start, start + words), n
        row += n * words


def _split_by_characters(count: Integers, max_characters: int) -> Iterator[slice]:
    """Split words so that no part has many more than `max_characters` characters."""
    part = np.cumsum(count) // max(1, max_characters)
    ends = [*(np.flatnonzero(np.diff(part)) + 1).tolist(), len(count)]
    return map(slice, [0, *ends[:-1]], ends)
