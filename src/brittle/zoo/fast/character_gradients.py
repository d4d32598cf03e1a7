"""Spellings forward and back: the vectors of distinct words, and the slope at every character.

The same numbers as `characters.Spelling` and its automatic derivative give, but cheaper: a word
that stands at many places is read once, what a character adds to a window is looked up and not
multiplied, and the way back is gone for the places that are asked about only, and only through the
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

from brittle.ranking.layout import Integers, ragged_rows
from brittle.zoo.layers.characters import CharacterCNN

MAX_TABLE_ENTRIES = (
    1 << 23
)  # of one table on the way back, words × kernels or characters × window: 32 MB


@dataclass(frozen=True, eq=False)
class _HighwayWeights:
    """The weights of one highway."""

    transform: Tensor
    transform_bias: Tensor
    gate: Tensor
    gate_bias: Tensor

    def through(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
        """Give y = g · relu(T x) + (1 − g) · x, and how y moves with x: by x, T x and g."""
        gate = torch.addmm(self.gate_bias, x, self.gate.T).sigmoid_()
        new = torch.addmm(self.transform_bias, x, self.transform.T).relu_()
        stay = 1 - gate
        change = new - x
        return x + gate * change, (stay, gate * (new > 0), change.mul_(gate).mul_(stay))


class CharacterPasses:
    """Reads spellings by the weights of a network as they are now."""

    def __init__(self, spelling: CharacterCNN) -> None:
        def own(weight: Tensor) -> Tensor:
            return weight.detach().cpu()

        self.window, self.kernels = spelling.window, spelling.width
        self.table = own(spelling.embedding.weight)
        self.size = self.table.shape[1]
        self.filters = own(spelling.convolution.weight)
        self.bias = own(spelling.convolution.bias)
        highways: list[Any] = list(spelling.highways)
        self.ways = [
            _HighwayWeights(
                *(own(w) for part in (h.transform, h.gate) for w in (part.weight, part.bias))
            )
            for h in highways
        ]
        # What a character adds at each place of a window: (character, place) × kernels.
        apart = self.filters.view(self.kernels, self.window, self.size)
        self.parts = torch.einsum("cd,kwd->cwk", self.table, apart).reshape(-1, self.kernels)

    def read(self, characters: Integers) -> CharacterStates:
        """Give the vectors of spellings (a row each, 0 after the end), and what leads back."""
        length = (characters != 0).sum(axis=1)
        order = np.argsort(length, kind="stable")
        count = length[order]
        first = np.empty_like(length)
        first[order] = np.cumsum(count) - count
        word, position = ragged_rows(count)
        over = np.pad(characters, ((0, 0), (0, self.window - 1)))
        within = np.arange(self.window)
        shown = over[order[word][:, None], position[:, None] + within] * self.window + within
        with torch.no_grad():
            found = embedding_bag(torch.from_numpy(shown), self.parts, mode="sum")
            top = found.new_zeros((len(length), self.kernels))
            for rows, many, n in _by_length(count):
                best = found[rows].view(many.stop - many.start, n, -1).amax(dim=1)
                top[torch.from_numpy(order[many])] = best
            # The bias and the tanh keep the order, so that they may come after the maximum.
            pooled = torch.tanh(top + self.bias)
            pooled[torch.from_numpy(length == 0)] = 0.0
            steps, gradients = [pooled], []
            for way in self.ways:
                step, gradient = way.through(steps[-1])
                steps.append(step)
                gradients.append(gradient)
        return CharacterStates(self, length, first, order, found, top, steps, gradients)


@dataclass(frozen=True, eq=False)
class CharacterStates:
    """Spellings that were read.

    What the kernels find in the windows of all words lies one under another in `found`, the words
    in `order`, the rows of each from its `first` on; `top` are the maxima. `steps` are the vectors
    made of these and then by each highway, `slopes` how a highway's vector moves with the last one.
    """

    speller: CharacterPasses
    length: Integers
    first: Integers
    order: Integers
    found: Tensor
    top: Tensor
    steps: Sequence[Tensor]
    gradients: Sequence[tuple[Tensor, Tensor, Tensor]]

    def back(self, which: Integers, gradient: Tensor, most: int) -> Tensor:
        """Give the slope at each character of words, from that at their vectors.

        `which` are spellings, one for every row of `gradient`; words may come again. There is a row
        for every character and, of words shorter than `most`, one more for the place after the
        last. Where two windows are the maximum, the slope is that of the first.
        """
        each = max(self.speller.kernels, self.speller.filters.shape[1])
        with torch.no_grad():
            parts = [
                self._back(which[part], gradient[part], most)
                for part in _portions(self.length[which], MAX_TABLE_ENTRIES // each)
            ]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _back(self, which: Integers, gradient: Tensor, most: int) -> Tensor:
        speller, chosen = self.speller, torch.from_numpy(which)
        rank, kernels, windows = self._routes
        pooled = self.steps[0].index_select(0, chosen)
        weight = self._below(chosen, gradient) * (1 - pooled * pooled)
        kernel = kernels.index_select(0, torch.from_numpy(rank[which]))
        count = self.length[which]
        word, position = ragged_rows(count)
        times = windows[self.first[which][word] + position]
        # One bag of kernels a window, and an empty one for characters that no window shows.
        shares = embedding_bag(
            kernel.view(-1),
            speller.filters,
            torch.from_numpy(np.append(0, np.cumsum(times))),
            mode="sum",
            per_sample_weights=weight.gather(1, kernel).view(-1),
        )
        first = np.cumsum(count) - count
        word, position = ragged_rows(np.minimum(count + 1, most))
        within = np.arange(speller.window)
        begin = position[:, None] - within
        inside = (begin >= 0) & (begin < count[word][:, None])
        share = (first[word][:, None] + begin) * speller.window + within
        share = np.where(inside, share, len(shares) * speller.window - 1)
        return embedding_bag(torch.from_numpy(share), shares.view(-1, speller.size), mode="sum")

    def _below(self, chosen: Tensor, gradient: Tensor) -> Tensor:
        """Go back through the highways."""
        for way, parts in zip(reversed(self.speller.ways), reversed(self.gradients)):
            stay, new, gate = (part.index_select(0, chosen).mul_(gradient) for part in parts)
            gradient = stay.addmm_(new, way.transform).addmm_(gate, way.gate)
        return gradient

    @cached_property
    def _routes(self) -> tuple[Integers, Tensor, Integers]:
        """Say which kernels have their maximum in which window.

        Gives the rank of each spelling in what follows, the kernels of each in the order of their
        windows, and how many there are for every window.
        """
        word = torch.from_numpy(self.order[ragged_rows(self.length[self.order])[0]])
        best = self.found == self.top.index_select(0, word)
        filled, kernels = int((self.length > 0).sum()), self.speller.kernels
        row, kernel = best.nonzero().T
        if len(row) != filled * kernels:
            row, kernel = self._first_best().nonzero().T
        rank = np.empty_like(self.order)
        rank[self.order] = np.arange(len(self.order)) - (len(self.order) - filled)
        times = torch.bincount(row, minlength=len(word)).numpy()
        return rank, kernel.reshape(filled, kernels), times

    def _first_best(self) -> Tensor:
        best = torch.zeros_like(self.found, dtype=torch.bool)
        for rows, many, n in _by_length(self.length[self.order]):
            shape = (many.stop - many.start, n, self.speller.kernels)
            first = self.found[rows].view(shape).argmax(dim=1, keepdim=True)
            best[rows].view(shape).scatter_(1, first, True)
        return best


def _by_length(count: Integers) -> Iterator[tuple[slice, slice, int]]:
    """Part sorted lengths into runs of one length: where their rows are, and they themselves."""
    value, first, times = np.unique(count, return_index=True, return_counts=True)
    row = 0
    for n, at, many in zip(value.tolist(), first.tolist(), times.tolist()):
        if n:
            yield slice(row, row + n * many), slice(at, at + many), n
        row += n * many


def _portions(count: Integers, most: int) -> Iterator[slice]:
    """Part words so that no part has many more than `most` characters."""
    part = np.cumsum(count) // max(1, most)
    ends = [*(np.flatnonzero(np.diff(part)) + 1).tolist(), len(count)]
    return map(slice, [0, *ends[:-1]], ends)
