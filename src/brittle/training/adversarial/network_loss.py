"""The loss of a network that is hardened: half of it on the texts, half on their copies.

Ebrahimi et al. (2018) add adversarial copies to every mini-batch, and say no more of how they
count: here each text and its copy count alike, so the loss is the mean of two means. The copies
are made from the gradient of the very pass that also teaches the network the texts, dropout and
all, so that hardening costs one more pass forth and back and not two. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from brittle.text import Text, words_of
from brittle.training.adversarial.flips import flipped_characters, flipped_words
from brittle.training.adversarial.methods import Hardening, HotFlip, Key, Miyato
from brittle.training.adversarial.noise import noisy
from brittle.zoo.batches import Reader, batch_of, padded
from brittle.zoo.networks import Batch, Classifier, Embedded
from brittle.zoo.tokenizers.characters import STRANGE, Spellings
from brittle.zoo.tokenizers.words import NEXT, UNKNOWN, Vocabulary


@dataclass(frozen=True)
class Lecture:
    """A batch to learn from: encoded texts and their labels, and their typed copies if wanted."""

    keys: Sequence[bytes]
    label: Tensor
    copies: Callable[[], Sequence[Text]]


@dataclass(frozen=True)
class Pupil:
    """A network and what reads texts for it, `reads` words of each."""

    network: Classifier
    reader: Reader
    reads: int
    device: str


def loss(pupil: Pupil, lecture: Lecture, hardening: Hardening | None) -> Tensor:
    """Give the loss of a batch.

    Where copies follow the gradient, the texts' own half has gone back through the network already
    when this returns: the weights' gradients must have been cleared before, and the loss counts
    that half but goes back through the copies' only.
    """
    network, label = pupil.network, lecture.label
    if isinstance(hardening, HotFlip | Miyato):
        batch = batch_of(lecture.keys, pupil.reader, pupil.device, apart=True)
        own, read, slope = own_half(network, batch, label)
        if isinstance(hardening, Miyato):
            logits = network.logits(noisy(read, slope, batch, hardening.noise), batch)
        else:
            logits = network(flipped(pupil, lecture.keys, batch, read, slope, hardening.share))
        return own + cross_entropy(logits, label) / 2
    clean = cross_entropy(network(batch_of(lecture.keys, pupil.reader, pupil.device)), label)
    if not isinstance(hardening, Key):
        return clean
    reader = passing(pupil.reader)
    keys = reader.sequences(lecture.copies(), pupil.reads)
    return clean / 2 + cross_entropy(network(batch_of(keys, reader, pupil.device)), label) / 2


def own_half(network: Classifier, batch: Batch, label: Tensor) -> tuple[Tensor, Embedded, Embedded]:
    """Take half the loss of the texts themselves back through the network.

    Gives that half, the vectors that were read, still tied to their table, and its slope there.
    """
    read = network.embed(batch)
    cut = Embedded(_cut(read.words), _cut(read.characters))
    half = cross_entropy(network.logits(cut, batch), label) / 2
    half.backward()  # type: ignore[no-untyped-call]
    for vectors, leaf in ((read.words, cut.words), (read.characters, cut.characters)):
        if vectors is not None and leaf is not None and vectors.requires_grad:
            # Noise is added to these vectors next, and goes back the same way again.
            vectors.backward(leaf.grad, retain_graph=True)  # type: ignore[no-untyped-call]
    slope = Embedded(*(None if v is None else v.grad for v in (cut.words, cut.characters)))
    return half.detach(), read, slope


def flipped(
    pupil: Pupil,
    keys: Sequence[bytes],
    batch: Batch,
    read: Embedded,
    slope: Embedded,
    share: float,
) -> Batch:
    """Flip characters where the network reads them, else words."""
    network, reader = pupil.network, pupil.reader
    places = torch.from_numpy(word_places(keys, reader)).to(pupil.device)
    if network.spelling is not None and isinstance(reader, Spellings):
        assert slope.characters is not None
        table = network.spelling.embedding.weight.detach()
        allowed = torch.tensor(letters(reader), dtype=torch.int64, device=pupil.device)
        return flipped_characters(batch, places, slope.characters, table, allowed, share)
    assert network.embedding is not None and slope.words is not None
    table = network.embedding.weight.detach()
    return flipped_words(batch, places, slope.words, read, table, _first(reader), share)


def letters(reader: Spellings) -> list[int]:
    """Number the letters and digits of an alphabet: with these a word stays one word."""
    numbered = enumerate(reader.alphabet, STRANGE + 1)
    return [i for i, c in numbered if c.isalnum() and words_of(c) == [c]]


def word_places(
    keys: Sequence[bytes], reader: Reader
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Say where in a batch (texts × words) words stand, and not padding or what joins a pair.

    A text of no words, which reads as one hole, has none.
    """
    rows, length = padded(keys)
    words: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = rows >= _first(reader)
    words |= (rows == UNKNOWN) & (length > 1)[:, None]
    return words


def passing(reader: Reader) -> Reader:
    """Give a reader like this one for texts met once: their spellings are not to be kept."""
    if isinstance(reader, Vocabulary):
        return reader
    return Spellings(reader.alphabet, reader.spelling, reader.vocabulary, both=reader.both)


def cross_entropy(logits: Tensor, label: Tensor) -> Tensor:
    """Give the mean cross-entropy of a batch."""
    return nn.functional.cross_entropy(logits, label)


def _first(reader: Reader) -> int:
    # The rows of spellings begin as a vocabulary does: padding, hole, and what joins a pair.
    return NEXT + 1 if reader.pairs else NEXT


def _cut(vectors: Tensor | None) -> Tensor | None:
    return None if vectors is None else vectors.detach().requires_grad_()
