"""Convolutions over words for scoring on the CPU, faster than torch's own on an attack's texts.

Texts of one batch share most of their words and windows: every distinct word is multiplied with
the filters once, every distinct window is added up once, and a text takes the maxima of its own.
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
from brittle.zoo.layers.encoders import CNNEncoder
from brittle.zoo.networks import Classifier
from brittle.zoo.tokenizers.words import PAD


class FastCnn:
    """The logits of a `Classifier` of one layer of convolutions and their maxima, to rounding."""

    def __init__(self, network: Classifier, reader: Tokenizer) -> None:
        encoder: CNNEncoder = network.encoder
        convolutions: list[Any] = list(encoder.convolutions)
        self.least = encoder.least
        self._table = word_vector_cache(network, reader)
        # For every width one matrix (vector, place in the window x filter).
        self.filters = [
            c.weight.detach().permute(1, 2, 0).flatten(1).contiguous() for c in convolutions
        ]
        self.widths = [c.kernel_size[0] for c in convolutions]
        self.biases = [c.bias.detach() for c in convolutions]
        self.head, self.bias = network.head.weight.detach(), network.head.bias.detach()

    def logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Score texts given as the int32 numbers of their words."""
        length = np.array([len(key) >> 2 for key in keys])
        ids = np.full((len(keys), max(self.least, int(length.max()))), PAD, dtype=np.int32)
        ids[np.arange(ids.shape[1]) < length[:, None]] = np.frombuffer(b"".join(keys), np.int32)
        known, spelt = np.unique(ids, return_inverse=True)
        spelt = spelt.reshape(ids.shape)
        length = np.maximum(length, self.least)
        with torch.inference_mode():
            words, position = self._table.of(known.astype(np.int64))
            vector = words.index_select(0, torch.from_numpy(position))
            tops = []
            window, label = 1, spelt
            for width, filters, bias in zip(self.widths, self.filters, self.biases):
                while window < width:
                    # Number the windows one word longer: by the shorter window and the next word.
                    label = label[:, :-1] * len(known) + spelt[:, window:]
                    label = np.unique(label, return_inverse=True)[1].reshape(label.shape)
                    window += 1
                found = self._windows(vector @ filters, spelt, label, width, bias)
                tops.append(_maxima(found, label, length - width))
            out = nn.functional.linear(torch.cat(tops, dim=1), self.head, self.bias)
        logits: NDArray[np.float32] = out.numpy()
        return logits

    def _windows(
        self, part: Tensor, spelt: NDArray[Any], label: NDArray[Any], width: int, bias: Tensor
    ) -> Tensor:
        """Add up each distinct window: its words' parts, one for each place; the last row is 0."""
        first = np.unique(label, return_index=True)[1]
        row, column = np.divmod(first, label.shape[1])
        found = bias.repeat(len(first) + 1, 1)
        positions = part.view(-1, len(bias)).contiguous()
        for position in range(width):
            at = spelt[row, column + position] * width + position
            found[:-1] += positions.index_select(0, torch.from_numpy(at))
        found[-1] = 0.0
        return found.relu_()


def _maxima(found: Tensor, label: NDArray[Any], last: NDArray[Any]) -> Tensor:
    """Give each text the maxima over its windows; those beyond its end count as 0."""
    label = np.where(np.arange(label.shape[1]) > last[:, None], len(found) - 1, label)
    rows = found.index_select(0, torch.from_numpy(label.reshape(-1).astype(np.int64)))
    return rows.view(*label.shape, -1).amax(dim=1)
