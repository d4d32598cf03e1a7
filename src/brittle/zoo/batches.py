"""From encoded texts to the arrays a network reads. This file needs torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.zoo.networks import Batch
from brittle.zoo.tokenizers.characters import CharacterTokenizer
from brittle.zoo.tokenizers.words import PAD, WordTokenizer

Tokenizer = WordTokenizer | CharacterTokenizer
"""What gives texts their keys; a model of words has a vocabulary, one of characters spellings."""


def make_batch(keys: Sequence[bytes], reader: Tokenizer, device: str, apart: bool = False) -> Batch:
    """Make the batch of encoded texts.

    Words spelt alike share a row of characters; with `apart` every place has a row of its own,
    text by text, so that a gradient is that of one place.
    """
    rows, length = pad_keys(keys)
    if isinstance(reader, WordTokenizer):
        return Batch(_tensor(length, device), words=_tensor(rows, device))
    if apart:
        inside = np.arange(rows.shape[1]) < length[:, None]
        distinct = np.append(rows[inside], PAD)
        which = np.full(rows.shape, len(distinct) - 1)
        which[inside] = np.arange(len(distinct) - 1)
    else:
        distinct, which = np.unique(rows, return_inverse=True)
        which = which.reshape(rows.shape)
    characters = reader.characters(distinct)
    longest = max(1, int((characters != 0).sum(axis=1).max()))
    return Batch(
        _tensor(length, device),
        words=_tensor(reader.words(rows), device) if reader.both else None,
        characters=_tensor(characters[:, :longest] if not apart else characters, device),
        which=_tensor(which, device),
    )


def pad_keys(keys: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Stack the numbers of encoded texts, padded on the right, with their lengths."""
    length = np.array([len(key) >> 2 for key in keys])
    rows = np.full((len(keys), int(length.max())), PAD, dtype=np.int64)
    rows[np.arange(rows.shape[1]) < length[:, None]] = np.frombuffer(b"".join(keys), np.int32)
    return rows, length


def split_by_words(keys: Sequence[bytes], most: int) -> Iterator[list[int]]:
    """Part texts, sorted by length, into passes of at most `most` words with their padding."""
    length = [len(key) >> 2 for key in keys]
    rows: list[int] = []
    for row in sorted(range(len(keys)), key=length.__getitem__):
        if rows and length[row] * (len(rows) + 1) > most:
            yield rows
            rows = []
        rows.append(row)
    yield rows


def _tensor(array: NDArray[np.int64], device: str) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)
