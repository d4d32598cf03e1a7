"""A network put together from its parts: input, encoder, head; words or spellings in, logits out.

This file needs torch; it is imported where a network is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from brittle.zoo.layers.characters import CharacterCNN
from brittle.zoo.layers.encoders import ENCODERS
from brittle.zoo.layers.heads import HEADS
from brittle.zoo.names.settings import NetworkSettings
from brittle.zoo.tokenizers.words import PAD, UNKNOWN

WORD_VECTOR_SCALE = (
    0.1  # of the first embeddings: at torch's own 1.0, dropout drowns what a word says
)


@dataclass(frozen=True)
class Batch:
    """Texts as a network reads them.

    `words` are the numbers of their words (texts × words), where the network reads words. Where it
    reads spellings, `characters` are those of the batch's words, a row each, and `which` says what
    row stands where (texts × words); rows may be shared, or every place may have one of its own.
    """

    length: Tensor
    words: Tensor | None = None
    characters: Tensor | None = None
    which: Tensor | None = None


@dataclass(frozen=True)
class Embedded:
    """The vectors a network begins with, and along which its gradients are taken.

    `words` is texts × words × size, `characters` is rows × spelling × size.
    """

    words: Tensor | None = None
    characters: Tensor | None = None


class Classifier(nn.Module):
    """Texts in, logits out; in training, words turn unknown and features drop out at random."""

    def __init__(
        self,
        parts: Mapping[str, Any],
        settings: NetworkSettings,
        words: int,
        characters: int,
        labels: int,
    ) -> None:
        super().__init__()
        self.input: str = parts["input"]
        self.embedding: nn.Embedding | None = None
        self.spelling: CharacterCNN | None = None
        size = 0
        if "W" in self.input:
            self.embedding = nn.Embedding(words, settings.embedding, padding_idx=PAD)
            with torch.no_grad():
                self.embedding.weight.mul_(WORD_VECTOR_SCALE)
            size += settings.embedding
        if "C" in self.input:
            self.spelling = CharacterCNN(settings, characters)
            size += self.spelling.width
        self.encoder = ENCODERS[parts["encoder"]](size, settings, int(parts["layers"]))
        self.pool = HEADS[parts["head"]](self.encoder.width)
        self.head = nn.Linear(self.encoder.width, labels)
        self.dropout = nn.Dropout(settings.dropout)
        self.forget = settings.forget

    def forward(self, batch: Batch) -> Tensor:
        return self.logits(self.embed(batch), batch)

    def embed(self, batch: Batch) -> Embedded:
        """Look the vectors up; in training some words are forgotten here."""
        words, characters = batch.words, batch.characters
        if words is not None and self.embedding is not None:
            if self.training and self.forget:
                lost = torch.rand(words.shape, device=words.device) < self.forget
                words = words.masked_fill(lost & (words != PAD), UNKNOWN)
            words = self.embedding(words)
        if characters is not None and self.spelling is not None:
            characters = self.spelling.embed(characters)
        return Embedded(words, characters)

    def logits(self, embedded: Embedded, batch: Batch) -> Tensor:
        """Give the logits from the vectors on."""
        return self.judged(self.vectors(embedded, batch), batch.length)

    def judged(self, vectors: Tensor, length: Tensor) -> Tensor:
        """Give the logits of texts from the vectors of their words."""
        states = self.states(vectors, length)
        pooled = self.pool(states[-1], length, self.encoder)[0]
        logits: Tensor = self.head(self.dropout(pooled))
        return logits

    def vectors(self, embedded: Embedded, batch: Batch) -> Tensor:
        """Give one vector for every word of every text, as the encoder takes them."""
        parts = [] if embedded.words is None else [embedded.words]
        if embedded.characters is not None and self.spelling is not None:
            assert batch.characters is not None and batch.which is not None
            length = (batch.characters != 0).sum(dim=1)
            spelt = self.spelling(embedded.characters, length)
            parts.append(spelt[batch.which])
        vectors = parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)
        # Here and not in the table: a dropped feature is one of a place, not of a word.
        dropped: Tensor = self.dropout(vectors)
        return dropped

    def states(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        """Give the states of every layer of the encoder, texts × words × width each."""
        states: list[Tensor] = self.encoder(vectors, length)
        return states


def build(
    parts: Mapping[str, Any], settings: NetworkSettings, words: int, characters: int, labels: int
) -> Classifier:
    """Put a network together from its parts; its weights are drawn from torch's generator."""
    return Classifier(parts, settings, words, characters, labels)
