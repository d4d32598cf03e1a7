"""Convolutions over words for scoring on the CPU, faster than torch's own on an attack's texts.

Texts of one batch share most of their words and windows: every distinct word is multiplied with
the filters once, every distinct window is summed once, and a text has the maxima of its windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.ranking.whole_rows import whole_columns, whole_rows
from brittle.zoo.batches import Tokenizer
from brittle.zoo.fast.word_vectors import word_vector_cache
from brittle.zoo.layers.encoders import CNNEncoder
from brittle.zoo.networks import Classifier
from brittle.zoo.tokenizers.words import PAD


class FastCnn:
    """The logits of a `Classifier` of one layer of convolutions and their maxima, to rounding."""

    def __init__(self, network: Classifier, tokenizer: Tokenizer) -> None:
        encoder: CNNEncoder = network.encoder
        convolutions: list[Any] = list(encoder.convolutions)
        self.min_words = encoder.min_words
        self._vectors = word_vector_cache(network, tokenizer)
        # For every width one matrix: vector × (offset in the window, filter).
        self.filters = [
            c.weight.detach().permute(1, 2, 0).flatten(1).contiguous() for c in convolutions
        ]
        self.widths = [c.kernel_size[0] for c in convolutions]
        self.biases = [c.bias.detach() for c in convolutions]
        self.head = whole_columns(network.head.weight.detach())
        self.bias = network.head.bias.detach()

    def logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Score texts encoded as the int32 ids of their words."""
        return self._read(keys, with_vectors=False)

    def vectors_and_logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Compute for every text one row: the vector that the last layer reads, then the logits."""
        return self._read(keys, with_vectors=True)

    def _read(self, keys: Sequence[bytes], with_vectors: bool) -> NDArray[np.float32]:
        length = np.array([len(key) >> 2 for key in keys])
        ids = np.full((len(keys), max(self.min_words, int(length.max()))), PAD, dtype=np.int32)
        ids[np.arange(ids.shape[1]) < length[:, None]] = np.frombuffer(b"".join(keys), np.int32)
        distinct, word = np.unique(ids, return_inverse=True)
        word = word.reshape(ids.shape)
        length = np.maximum(length, self.min_words)
        with torch.inference_mode():
            vectors, rows = self._vectors.look_up(distinct.astype(np.int64))
            vector = whole_rows(vectors.index_select(0, torch.from_numpy(rows)))
            maxima = []
            window_width, window = 1, word
            for width, filters, bias in zip(self.widths, self.filters, self.biases):
                while window_width < width:
                    # Number the windows one word longer: by the shorter window and the next word.
                    window = window[:, :-1] * len(distinct) + word[:, window_width:]
                    window = np.unique(window, return_inverse=True)[1].reshape(window.shape)
                    window_width += 1
                response = self._responses(vector @ filters, word, window, width, bias)
                maxima.append(_maxima(response, window, length - width))
            pooled = whole_rows(torch.cat(maxima, dim=1))
            out = nn.functional.linear(whole_columns(pooled), self.head, self.bias)
            if with_vectors:
                out = torch.cat([pooled, out], dim=1)
        computed: NDArray[np.float32] = out.numpy()[: len(keys)]
        return computed

    def _responses(
        self, product: Tensor, word: NDArray[Any], window: NDArray[Any], width: int, bias: Tensor
    ) -> Tensor:
        """Sum the products of the words of each distinct window; the last row is 0.

        `product` has a row for every distinct word: its product with the filters at each offset.
        """
        first = np.unique(window, return_index=True)[1]
        row, column = np.divmod(first, window.shape[1])
        response = bias.repeat(len(first) + 1, 1)
        by_offset = product.view(-1, len(bias)).contiguous()
        for offset in range(width):
            index = word[row, column + offset] * width + offset
            response[:-1] += by_offset.index_select(0, torch.from_numpy(index))
        response[-1] = 0.0
        return response.relu_()


def _maxima(response: Tensor, window: NDArray[Any], last: NDArray[Any]) -> Tensor:
    """Compute the maxima over the windows of each text; those beyond its end count as 0."""
    window = np.where(np.arange(window.shape[1]) > last[:, None], len(response) - 1, window)
    rows = response.index_select(0, torch.from_numpy(window.reshape(-1).astype(np.int64)))
    return rows.view(*window.shape, -1).amax(dim=1)
