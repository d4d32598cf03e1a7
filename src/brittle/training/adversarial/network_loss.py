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

from brittle.text import Text, is_word
from brittle.training.adversarial.flips import flip_characters, flip_words
from brittle.training.adversarial.methods import (
    AdversarialTraining,
    HotFlipTraining,
    NoiseTraining,
    TypoTraining,
)
from brittle.training.adversarial.noise import add_noise
from brittle.zoo.batches import Tokenizer, make_batch, pad_keys
from brittle.zoo.networks import Batch, Classifier, Embedded
from brittle.zoo.tokenizers.characters import UNKNOWN_CHARACTER, CharacterTokenizer
from brittle.zoo.tokenizers.words import SEPARATOR, UNKNOWN, WordTokenizer


@dataclass(frozen=True)
class LabelledBatch:
    """A batch to learn from: encoded texts and their labels, and their typed copies if wanted."""

    keys: Sequence[bytes]
    label: Tensor
    copies: Callable[[], Sequence[Text]]


@dataclass(frozen=True)
class NetworkInTraining:
    """A network and what reads texts for it, `reads` words of each."""

    network: Classifier
    reader: Tokenizer
    reads: int
    device: str


def batch_loss(
    pupil: NetworkInTraining, lecture: LabelledBatch, hardening: AdversarialTraining | None
) -> Tensor:
    """Give the loss of a batch.

    Where copies follow the gradient, the texts' own half has gone back through the network already
    when this returns: the weights' gradients must have been cleared before, and the loss counts
    that half but goes back through the copies' only.
    """
    network, label = pupil.network, lecture.label
    if isinstance(hardening, HotFlipTraining | NoiseTraining):
        batch = make_batch(lecture.keys, pupil.reader, pupil.device, apart=True)
        own, read, gradient = clean_half(network, batch, label)
        if isinstance(hardening, NoiseTraining):
            logits = network.logits(add_noise(read, gradient, batch, hardening.noise), batch)
        else:
            logits = network(
                flip_batch(pupil, lecture.keys, batch, read, gradient, hardening.share)
            )
        return own + cross_entropy(logits, label) / 2
    clean = cross_entropy(network(make_batch(lecture.keys, pupil.reader, pupil.device)), label)
    if not isinstance(hardening, TypoTraining):
        return clean
    reader = fresh_tokenizer(pupil.reader)
    keys = reader.encode(lecture.copies(), pupil.reads)
    return clean / 2 + cross_entropy(network(make_batch(keys, reader, pupil.device)), label) / 2


def clean_half(
    network: Classifier, batch: Batch, label: Tensor
) -> tuple[Tensor, Embedded, Embedded]:
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
    gradient = Embedded(*(None if v is None else v.grad for v in (cut.words, cut.characters)))
    return half.detach(), read, gradient


def flip_batch(
    pupil: NetworkInTraining,
    keys: Sequence[bytes],
    batch: Batch,
    read: Embedded,
    gradient: Embedded,
    share: float,
) -> Batch:
    """Flip characters where the network reads them, else words."""
    network, reader = pupil.network, pupil.reader
    positions = torch.from_numpy(word_mask(keys, reader)).to(pupil.device)
    if network.spelling is not None and isinstance(reader, CharacterTokenizer):
        assert gradient.characters is not None
        table = network.spelling.embedding.weight.detach()
        allowed = torch.tensor(letter_ids(reader), dtype=torch.int64, device=pupil.device)
        return flip_characters(batch, positions, gradient.characters, table, allowed, share)
    assert network.embedding is not None and gradient.words is not None
    table = network.embedding.weight.detach()
    return flip_words(batch, positions, gradient.words, read, table, _first(reader), share)


def letter_ids(reader: CharacterTokenizer) -> list[int]:
    """Number the letters and digits of an alphabet: with these a word stays one word."""
    numbered = enumerate(reader.alphabet, UNKNOWN_CHARACTER + 1)
    return [i for i, c in numbered if c.isalnum() and is_word(c)]


def word_mask(
    keys: Sequence[bytes], reader: Tokenizer
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Say where in a batch (texts × words) words stand, and not padding or what joins a pair.

    A text of no words, which reads as one hole, has none.
    """
    rows, length = pad_keys(keys)
    words: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = rows >= _first(reader)
    words |= (rows == UNKNOWN) & (length > 1)[:, None]
    return words


def fresh_tokenizer(reader: Tokenizer) -> Tokenizer:
    """Give a reader like this one for texts met once: their spellings are not to be kept."""
    if isinstance(reader, WordTokenizer):
        return reader
    return CharacterTokenizer(reader.alphabet, reader.spelling, reader.vocabulary, both=reader.both)


def cross_entropy(logits: Tensor, label: Tensor) -> Tensor:
    """Give the mean cross-entropy of a batch."""
    return nn.functional.cross_entropy(logits, label)


def _first(reader: Tokenizer) -> int:
    # The rows of spellings begin as a vocabulary does: padding, hole, and what joins a pair.
    return SEPARATOR + 1 if reader.pairs else SEPARATOR


def _cut(vectors: Tensor | None) -> Tensor | None:
    return None if vectors is None else vectors.detach().requires_grad_()
