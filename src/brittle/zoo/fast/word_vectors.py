"""The vectors of the words a network reads, made once and kept.

A model of characters reads every word of every candidate by its spelling, and candidates share all
but one or two of their words: what the model makes of a word is made when it is first met. This
file needs torch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.zoo.batches import Tokenizer, make_batch
from brittle.zoo.networks import Classifier
from brittle.zoo.tokenizers.words import PAD, WordTokenizer

MAX_BYTES = 1 << 27  # that a table takes at most, unless one call alone needs more
WORDS_PER_PASS = 2048  # made in one pass: the windows of a spelling are wide


class WordVectorCache:
    """A vector for each row of a reader, by `make`, kept up to a bound; for many threads.

    Where there is no more room all are forgotten: what comes after is mostly new words anyway.
    """

    def __init__(self, make: Callable[[NDArray[np.int64]], Tensor], most: int = MAX_BYTES) -> None:
        self._make = make
        self._most = most
        self._lock = threading.Lock()
        self._place = np.full(1024, -1, dtype=np.int64)
        self._kept = torch.empty((0, 0))
        self._count = 0

    def of(self, rows: NDArray[np.int64]) -> tuple[Tensor, NDArray[np.int64]]:
        """Give vectors, and for every row the place of its own among them."""
        with self._lock:
            lacking = int(rows.max()) + 1 - len(self._place)
            if lacking > 0:
                more = np.full(max(lacking, len(self._place)), -1, dtype=np.int64)
                self._place = np.concatenate([self._place, more])
            position = self._place[rows]
            strange = np.unique(rows[position < 0])
            if len(strange):
                self._add(strange, rows)
                position = self._place[rows]
            return self._kept, position

    def _add(self, strange: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        made = self._made(strange)
        room = self._most // max(1, made.shape[1] * made.element_size())
        if self._count and self._count + len(made) > room:
            self._place[:] = -1
            self._count = 0
            self._kept = made[:0]
            strange = np.unique(rows)
            made = self._made(strange)
        after = self._count + len(made)
        if after > len(self._kept):
            # A new tensor, for another thread may still be reading the old one.
            grown = made.new_empty((max(after, min(2 * after, room)), made.shape[1]))
            if self._count:
                grown[: self._count] = self._kept[: self._count]
            self._kept = grown
        self._kept[self._count : after] = made
        self._place[strange] = np.arange(self._count, after)
        self._count = after

    def _made(self, rows: NDArray[np.int64]) -> Tensor:
        starts = range(0, len(rows), WORDS_PER_PASS)
        return torch.cat([self._make(rows[start : start + WORDS_PER_PASS]) for start in starts])


def compute_word_vectors(network: Classifier, reader: Tokenizer, rows: NDArray[np.int64]) -> Tensor:
    """Give what the encoder takes for each row; zeros for padding."""
    with torch.inference_mode():
        if isinstance(reader, WordTokenizer):
            assert network.embedding is not None
            return network.embedding.weight.index_select(0, torch.from_numpy(rows))
        # Every row as a text of one word.
        batch = make_batch([row.tobytes() for row in rows.astype(np.int32)], reader, "cpu")
        vectors = network.vectors(network.embed(batch), batch)[:, 0]
        return vectors * torch.from_numpy(rows != PAD)[:, None]


def word_vector_cache(
    network: Classifier, reader: Tokenizer, after: Callable[[Tensor], Tensor] | None = None
) -> WordVectorCache:
    """Keep the vectors of a network's rows, or what `after` makes of them."""

    def make(rows: NDArray[np.int64]) -> Tensor:
        with torch.inference_mode():
            vectors = compute_word_vectors(network, reader, rows)
            return vectors if after is None else after(vectors)

    return WordVectorCache(make)
