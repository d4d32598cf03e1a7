"""What a network can predict for any text of a space of swaps, by interval bounds.

The vector of every position lies in the box around the vectors of its word and of all candidates
(Jia et al., 2019; Huang et al., 2019). The box is propagated to the margins: the logit of another
class minus that of the text's own. If all margins stay below zero, no text of the space has
another class. For few swaps there is a box for every set of positions; it is far tighter, since
all other positions stay as they are. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.spaces import Bounded, BoundRequest, PositionSet, SwapSpace
from brittle.zoo import intervals
from brittle.zoo.fast.word_vectors import compute_word_vectors
from brittle.zoo.intervals import MORE_OPERATIONS, UNIT, Box
from brittle.zoo.layers import encoders, heads
from brittle.zoo.networks import Classifier
from brittle.zoo.scoring import NetworkModel

MAX_SETS = 2000
"""With more sets of positions than this, there is one box for all positions."""
SETS_PER_PASS = 128
SPELLING_ERROR = 1e-5
"""The largest relative error of a vector that is computed from a spelling."""


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
            left += [one for one, is_safe in zip(part, (margin < 0).all(dim=1)) if not is_safe]
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

    def sentence(self, box: Box) -> Box:
        """Propagate the vectors of words to the vector that the last layer reads."""
        encoder, head = self.network.encoder, self.network.pool
        if isinstance(encoder, encoders.CNNEncoder):
            return self._convolved(box, encoder, head)
        states, back = box, box
        if isinstance(encoder, encoders.LSTMEncoder):
            for layer in encoder.layers:
                states = intervals.lstm(states, layer)  # type: ignore[arg-type]
        if isinstance(encoder, encoders.BiLSTMEncoder):
            for ahead, behind in zip(encoder.ahead, encoder.back):
                forward = intervals.lstm(states, ahead)  # type: ignore[arg-type]
                back = intervals.lstm(states, behind, backward=True)  # type: ignore[arg-type]
                states = Box(*(torch.cat(part, dim=2) for part in zip(forward, back)))
        if not isinstance(head, heads.Last):
            pool = intervals.highest if isinstance(head, heads.Maximum) else intervals.mean
            return pool(states)
        last = states.map(lambda x: x[:, -1])
        if isinstance(encoder, encoders.BiLSTMEncoder):
            half = states.low.shape[2] // 2
            parts = zip(last.map(lambda x: x[:, :half]), back.map(lambda x: x[:, 0]))
            last = Box(*(torch.cat(part, dim=1) for part in parts))
        return last

    def _convolved(self, box: Box, encoder: encoders.CNNEncoder, head: Any) -> Box:
        """Propagate through convolutions and the maxima, or the mean, of their windows."""
        for number, layer in enumerate(encoder.below):
            y = intervals.convolved(box, layer, padding=1).map(torch.relu)  # type: ignore[arg-type]
            box = intervals.added(y, box) if number else y
        words = box.low.shape[1]
        whole = max(words, encoder.min_words)
        if not isinstance(head, heads.Maximum):
            # The state of a word is that of the windows that begin there, beyond the end too.
            whole += encoder.min_words - 1
        box = intervals.padded(box, whole)
        parts = []
        for layer in encoder.convolutions:
            states = intervals.convolved(box, layer).map(torch.relu)  # type: ignore[arg-type]
            if isinstance(head, heads.Maximum):
                parts.append(intervals.highest(states))
            else:
                parts.append(_pooled_words(states, words, head))
        return Box(*(torch.cat(part, dim=1) for part in zip(*parts)))


def _pooled_words(states: Box, words: int, head: Any) -> Box:
    own = states.map(lambda x: x[:, :words])
    return own.map(lambda x: x[:, -1]) if isinstance(head, heads.Last) else intervals.mean(own)


class PositionBoxes:
    """The vectors of a text's words, and of every position with candidates the box around them."""

    def __init__(self, model: NetworkModel, space: SwapSpace) -> None:
        [(read, columns)] = model.columns(space.text)
        self.column = dict(zip(read, columns))
        self.positions = tuple(i for i in space.positions if i in self.column)
        ids = np.frombuffer(model.encode([space.text])[0], np.int32)
        token_id = model.tokenizer.token_id
        candidates = [token_id(word) for i in self.positions for word in space.options[i]]
        every = np.concatenate([ids, np.array(candidates, dtype=np.int32)]).astype(np.int64)
        vectors = _vectors(model, every)
        self.words = vectors.map(lambda x: x[: len(ids)])
        self.swapped: dict[int, tuple[Tensor, Tensor]] = {}
        start = len(ids)
        for i in self.positions:
            rows = [self.column[i], *range(start, start + len(space.options[i]))]
            start += len(space.options[i])
            self.swapped[i] = (vectors.low[rows].amin(dim=0), vectors.high[rows].amax(dim=0))

    def of(self, sets: Sequence[PositionSet]) -> Box:
        """Build a box for every set of positions whose words may be swapped."""
        box = self.words.map(lambda x: x.expand(len(sets), -1, -1).clone())
        for n, positions in enumerate(sets):
            for i in positions:
                box.low[n, self.column[i]], box.high[n, self.column[i]] = self.swapped[i]
        return box


def _vectors(model: NetworkModel, ids: NDArray[np.int64]) -> Box:
    """Return the vectors of token ids; those of spellings are computed, and so not exact."""
    distinct, rows = np.unique(ids, return_inverse=True)
    network = model.network
    vectors = compute_word_vectors(network, model.tokenizer, distinct).double().cpu()[rows]
    box = Box(vectors, vectors)
    return box if network.spelling is None else box.widened(SPELLING_ERROR * (1 + vectors.abs()))
