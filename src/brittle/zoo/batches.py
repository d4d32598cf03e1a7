"""From encoded texts to the arrays a network reads. This file needs torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.zoo.networks import Batch
from brittle.zoo.tokenizers.characters import CharacterTokenizer
from brittle.zoo.tokenizers.pairs import ID_BYTES, split_sides
from brittle.zoo.tokenizers.words import PAD, WordTokenizer

Tokenizer = WordTokenizer | CharacterTokenizer
"""Encodes texts as keys: the tokenizer of a model of words, or of one of characters."""


def make_batch(
    keys: Sequence[bytes], tokenizer: Tokenizer, device: str, apart: bool = False
) -> Batch:
    """Build the batch of encoded texts; the two sides of a pair that are read apart are rows.

    Words spelt alike share a row of characters; with `apart` every position has its own row, text
    by text, so that a gradient is that of one position.
    """
    return make_row_batch(split_rows(keys, tokenizer), tokenizer, device, apart)


def split_rows(keys: Sequence[bytes], tokenizer: Tokenizer) -> Sequence[bytes]:
    """Return the rows of a batch: the texts or, of pairs that are read apart, their sides."""
    return split_sides(keys) if tokenizer.sides else keys


def make_row_batch(
    rows: Sequence[bytes], tokenizer: Tokenizer, device: str, apart: bool = False
) -> Batch:
    """Build the batch of rows of ids, as `make_batch` does."""
    ids, length = pad_keys(rows)
    if isinstance(tokenizer, WordTokenizer):
        return Batch(_tensor(length, device), words=_tensor(ids, device))
    if apart:
        inside = np.arange(ids.shape[1]) < length[:, None]
        distinct = np.append(ids[inside], PAD)
        which = np.full(ids.shape, len(distinct) - 1)
        which[inside] = np.arange(len(distinct) - 1)
    else:
        distinct, which = np.unique(ids, return_inverse=True)
        which = which.reshape(ids.shape)
    characters = tokenizer.characters(distinct)
    longest = max(1, int((characters != 0).sum(axis=1).max()))
    return Batch(
        _tensor(length, device),
        words=_tensor(tokenizer.words(ids), device) if tokenizer.both else None,
        characters=_tensor(characters[:, :longest] if not apart else characters, device),
        which=_tensor(which, device),
    )


def pad_keys(keys: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Stack the ids of encoded texts, padded on the right, and return them with the lengths."""
    length = np.array([len(key) >> 2 for key in keys])
    ids = np.full((len(keys), int(length.max())), PAD, dtype=np.int64)
    ids[np.arange(ids.shape[1]) < length[:, None]] = np.frombuffer(b"".join(keys), np.int32)
    return ids, length


def split_by_words(
    keys: Sequence[bytes], max_words: int, one_length: bool = False, sides: bool = False
) -> Iterator[list[int]]:
    """Split texts, sorted by length, into passes of at most `max_words` words with padding.

    With `one_length` no pass has padding; of pairs whose `sides` are read apart, the first sides of
    a pass are of one length, and so are the second ones.
    """
    length = [(len(key) >> 2, key[:ID_BYTES] if sides else b"") for key in keys]
    rows: list[int] = []
    for row in sorted(range(len(keys)), key=length.__getitem__):
        is_full = length[row][0] * (len(rows) + 1) > max_words
        if rows and (is_full or (one_length and length[row] != length[rows[0]])):
            yield rows
            rows = []
        rows.append(row)
    yield rows


def _tensor(array: NDArray[np.int64], device: str) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)
