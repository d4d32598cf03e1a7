"""Word vectors and convolutions for scoring on the CPU, faster than torch's own.

The vectors of the words a network reads, computed once and kept.

A model of characters reads every word of every candidate by its spelling, and candidates share all
but one or two of their words: the vector of a word is computed when it is first met. This file
needs torch.

Convolutions over words for scoring on the CPU, faster than torch's own on an attack's texts.

Texts of one batch share most of their words and windows: every distinct word is multiplied with
the filters once, every distinct window is summed once, and a text has the maxima of its windows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.ranking.top_k import whole_columns, whole_rows
from brittle.zoo.fast.character_gradients import CharacterPasses
from brittle.zoo.layers import CNNEncoder
from brittle.zoo.networks import Classifier, Tokenizer
from brittle.zoo.spellings import CharacterTokenizer
from brittle.zoo.tokenizers import PAD, WordTokenizer

MAX_BYTES = 1 << 27  # of all vectors kept, unless one call alone needs more
WORDS_PER_PASS = 2048  # the windows of a spelling are wide: more would need much memory


class WordVectorCache:
    """A vector for each token id, by `compute`, kept up to `max_bytes`; for many threads.

    When it is full, all vectors are dropped: what comes after is mostly new words anyway. The ids
    of new spellings rise for ever; after a drop, rows are counted from the lowest id still met.
    """

    def __init__(
        self, compute: Callable[[NDArray[np.int64]], Tensor], max_bytes: int = MAX_BYTES
    ) -> None:
        self._compute = compute
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._vectors = torch.empty((0, 0))
        self._drop(0)

    def look_up(self, ids: NDArray[np.int64]) -> tuple[Tensor, NDArray[np.int64]]:
        """Return a table of vectors, and for every id its row there."""
        with self._lock:
            if ((ids < self._first) & (ids != PAD)).any():
                self._drop(0)
            rows = self._find(ids)
            new = np.unique(ids[rows < 0])
            if len(new):
                self._add(new, ids)
                rows = self._find(ids)
            return self._vectors, rows.astype(np.int64)

    def _drop(self, first: int) -> None:
        """Drop all vectors; from here on there are rows for padding and the ids from `first` on."""
        self._first, self._count = max(1, first), 0
        self._vectors = self._vectors[:0]  # not overwritten: another thread may be reading them
        self._row_of = np.full(1024, -1, dtype=np.int32)  # −1: no row; padding comes first

    def _index(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(ids == PAD, 0, ids - self._first + 1)

    def _find(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        index = self._index(ids)
        lacking = int(index.max()) + 1 - len(self._row_of)
        if lacking > 0:
            more = np.full(max(lacking, len(self._row_of)), -1, dtype=np.int32)
            self._row_of = np.concatenate([self._row_of, more])
        rows: NDArray[np.int32] = self._row_of[index]
        return rows

    def _add(self, new: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        vectors = self._compute_all(new)
        max_rows = self._max_bytes // max(1, vectors.shape[1] * vectors.element_size())
        if self._count and self._count + len(vectors) > max_rows:
            new = np.unique(ids)
            self._drop(int(new[new != PAD].min(initial=new.max())))
            self._find(ids)
            vectors = self._compute_all(new)
        count = self._count + len(vectors)
        if count > len(self._vectors):
            # A new tensor, for another thread may still be reading the old one.
            grown = vectors.new_empty((max(count, min(2 * count, max_rows)), vectors.shape[1]))
            if self._count:
                grown[: self._count] = self._vectors[: self._count]
            self._vectors = grown
        self._vectors[self._count : count] = vectors
        self._row_of[self._index(new)] = np.arange(self._count, count)
        self._count = count

    def _compute_all(self, ids: NDArray[np.int64]) -> Tensor:
        starts = range(0, len(ids), WORDS_PER_PASS)
        return torch.cat([self._compute(ids[start : start + WORDS_PER_PASS]) for start in starts])


def compute_word_vectors(
    network: Classifier,
    tokenizer: Tokenizer,
    ids: NDArray[np.int64],
    character_passes: CharacterPasses | None = None,
) -> Tensor:
    """Compute the encoder's input for each token id; zeros for padding.

    A network that reads spellings may be given with its `character_passes`, if they are there.
    """
    parts = []
    with torch.inference_mode():
        if network.embedding is not None:
            tokens = ids if isinstance(tokenizer, WordTokenizer) else tokenizer.words(ids)
            parts.append(network.embedding.weight.index_select(0, torch.from_numpy(tokens)))
        if network.spelling is not None and isinstance(tokenizer, CharacterTokenizer):
            passes = character_passes or CharacterPasses(network.spelling)
            parts.append(passes.forward(tokenizer.characters(ids)).vectors)
        return torch.cat(parts, dim=1)


def word_vector_cache(
    network: Classifier,
    tokenizer: Tokenizer,
    transform: Callable[[Tensor], Tensor] = lambda vectors: vectors,
) -> WordVectorCache:
    """Build a cache of the vectors of a network's token ids, each transformed."""
    passes = None if network.spelling is None else CharacterPasses(network.spelling)

    def compute(ids: NDArray[np.int64]) -> Tensor:
        with torch.inference_mode():
            vectors = whole_rows(compute_word_vectors(network, tokenizer, ids, passes))
            return transform(vectors)[: len(ids)]

    return WordVectorCache(compute)


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
