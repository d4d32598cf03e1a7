"""The loss of a hardened network: half of it on the texts, half on their adversarial copies.

Ebrahimi et al. (2018) add adversarial copies to every mini-batch, without saying how these are
weighted. Here a text and its copy have equal weights: the loss is the mean of two means. The copies
are built from the gradient of the pass that also trains the network on the texts, with dropout, so
that hardening costs one more forward and backward pass, not two. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from brittle.text import Text, is_word
from brittle.training.adversarial.flips import flip_characters, flip_words
from brittle.training.adversarial.methods import (
    AdversarialTraining,
    HotFlipTraining,
    NoiseTraining,
    TypoTraining,
)
from brittle.training.adversarial.noise import add_noise
from brittle.training.kept_layers import KeptLayers
from brittle.zoo.batches import Tokenizer, make_batch, pad_keys, split_rows
from brittle.zoo.networks import Batch, Classifier, Embedded
from brittle.zoo.tokenizers.characters import UNKNOWN_CHARACTER, CharacterTokenizer
from brittle.zoo.tokenizers.words import SEPARATOR, UNKNOWN, WordTokenizer


@dataclass(frozen=True)
class LabelledBatch:
    """Encoded texts and their labels; `typo_copies` returns the texts with typing errors."""

    keys: Sequence[bytes]
    label: Tensor
    typo_copies: Callable[[], Sequence[Text]]


@dataclass(frozen=True)
class NetworkInTraining:
    """A network and its tokenizer; the network reads `max_words` words of a text.

    `kept` are the layers of its biLM, if it reads one.
    """

    network: Classifier
    tokenizer: Tokenizer
    max_words: int
    device: str
    kept: KeptLayers | None = None

    def logits(self, keys: Sequence[bytes]) -> Tensor:
        """Compute the logits of encoded texts of the train split."""
        if self.kept is not None:
            return self.kept.logits(keys)
        logits: Tensor = self.network(make_batch(keys, self.tokenizer, self.device))
        return logits


def batch_loss(
    model: NetworkInTraining, labelled: LabelledBatch, method: AdversarialTraining | None
) -> Tensor:
    """Compute the loss of a batch.

    For methods that follow the gradient, the backward pass of the texts' own half has already run
    when this returns: the gradients of the weights must be zero before the call. The loss includes
    that half as a constant, so that its own backward pass adds only the half of the copies.
    """
    network, label = model.network, labelled.label
    if isinstance(method, HotFlipTraining | NoiseTraining):
        batch = make_batch(labelled.keys, model.tokenizer, model.device, apart=True)
        half, embedded, gradient = clean_half(network, batch, label)
        if isinstance(method, NoiseTraining):
            logits = network.logits(add_noise(embedded, gradient, batch, method.noise), batch)
        else:
            copies = flip_batch(model, labelled.keys, batch, embedded, gradient, method.share)
            logits = network(copies)
        return half + cross_entropy(logits, label) / 2
    clean = cross_entropy(model.logits(labelled.keys), label)
    if not isinstance(method, TypoTraining):
        return clean
    tokenizer = fresh_tokenizer(model.tokenizer)
    keys = tokenizer.encode(labelled.typo_copies(), model.max_words)
    return clean / 2 + cross_entropy(network(make_batch(keys, tokenizer, model.device)), label) / 2


def clean_half(
    network: Classifier, batch: Batch, label: Tensor
) -> tuple[Tensor, Embedded, Embedded]:
    """Run the forward and the backward pass of half the loss of the texts themselves.

    Returns that half, the embeddings with their autograd graph, and the gradient at them.
    """
    embedded = network.embed(batch)
    leaves = Embedded(_leaf(embedded.words), _leaf(embedded.characters))
    half = cross_entropy(network.logits(leaves, batch), label) / 2
    half.backward()  # type: ignore[no-untyped-call]
    pairs = ((embedded.words, leaves.words), (embedded.characters, leaves.characters))
    for vectors, leaf in pairs:
        if vectors is not None and leaf is not None and vectors.requires_grad:
            # The graph is kept: noise is added to these vectors next, and has its backward pass.
            vectors.backward(leaf.grad, retain_graph=True)  # type: ignore[no-untyped-call]
    gradient = Embedded(*(None if leaf is None else leaf.grad for _, leaf in pairs))
    return half.detach(), embedded, gradient


def flip_batch(
    model: NetworkInTraining,
    keys: Sequence[bytes],
    batch: Batch,
    embedded: Embedded,
    gradient: Embedded,
    share: float,
) -> Batch:
    """Flip characters if the network reads characters, else words."""
    network, tokenizer = model.network, model.tokenizer
    words = torch.from_numpy(word_mask(keys, tokenizer)).to(model.device)
    if network.spelling is not None and isinstance(tokenizer, CharacterTokenizer):
        assert gradient.characters is not None
        table = network.spelling.embedding.weight.detach()
        allowed = torch.tensor(letter_ids(tokenizer), dtype=torch.int64, device=model.device)
        return flip_characters(batch, words, gradient.characters, table, allowed, share)
    assert network.embedding is not None and gradient.words is not None
    table = network.embedding.weight.detach()
    return flip_words(batch, words, gradient.words, embedded, table, _first_id(tokenizer), share)


def letter_ids(tokenizer: CharacterTokenizer) -> list[int]:
    """List the ids of letters and digits; a flip to one of these leaves a word one word."""
    numbered = enumerate(tokenizer.alphabet, UNKNOWN_CHARACTER + 1)
    return [i for i, c in numbered if c.isalnum() and is_word(c)]


def word_mask(
    keys: Sequence[bytes], tokenizer: Tokenizer
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Mark the words of a batch (texts × words), without padding and the separator of a pair.

    A text without words is encoded as one hole, which is not marked. Sides that are read apart are
    rows of their own.
    """
    ids, length = pad_keys(split_rows(keys, tokenizer))
    words: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = ids >= _first_id(tokenizer)
    words |= (ids == UNKNOWN) & (length > 1)[:, None]
    return words


def fresh_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer for texts that are read only once: their spellings are not remembered."""
    if isinstance(tokenizer, WordTokenizer):
        return tokenizer
    return CharacterTokenizer(
        tokenizer.alphabet, tokenizer.spelling, tokenizer.vocabulary, both=tokenizer.both
    )


def _first_id(tokenizer: Tokenizer) -> int:
    """Return the first id of a real word or spelling, after padding, hole and separator."""
    return SEPARATOR + 1 if tokenizer.pairs else SEPARATOR


def _leaf(vectors: Tensor | None) -> Tensor | None:
    return None if vectors is None else vectors.detach().requires_grad_()
