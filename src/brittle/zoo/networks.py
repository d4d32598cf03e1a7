"""A network built from its parts: input, encoder, head; words or spellings in, logits out.

This file needs torch; it is imported where a network is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from brittle.ranking.whole_rows import WholeLinear
from brittle.zoo.layers.bilm import BiLM, LayerMix
from brittle.zoo.layers.characters import CharacterCNN
from brittle.zoo.layers.encoders import ENCODERS
from brittle.zoo.layers.heads import HEADS, Joined
from brittle.zoo.names.settings import NetworkSettings
from brittle.zoo.tokenizers.words import PAD, UNKNOWN

WORD_VECTOR_SCALE = 0.1  # of initial embeddings: at torch's 1.0, dropout drowns what a word says


@dataclass(frozen=True)
class Batch:
    """Texts as a network reads them. Where it reads the two sides of a pair apart, each has a row.

    `words` are the ids of their words (texts × words), where the network reads words. Where it
    reads spellings, `characters` has a row of character ids for every word of the batch, and
    `which` (texts × words) tells which row stands where; positions may share a row or not.
    """

    length: Tensor
    words: Tensor | None = None
    characters: Tensor | None = None
    which: Tensor | None = None


@dataclass(frozen=True)
class Embedded:
    """The embeddings of a batch, along which gradients are taken.

    `words` is texts × words × size, `characters` is rows × spelling × size.
    """

    words: Tensor | None = None
    characters: Tensor | None = None


class Classifier(nn.Module):
    """Texts in, logits out; in training, words become unknown and features drop out at random.

    With a `bilm`, which is shared and frozen and so no part of the weights, the vectors of words
    are its layer 0, and the encoder reads a mix of its layers. A network that `ignores_padding`
    computes a text's logits and gradients to the same bits in passes of one length and of many.
    """

    def __init__(
        self,
        parts: Mapping[str, Any],
        settings: NetworkSettings,
        words: int,
        characters: int,
        labels: int,
        bilm: BiLM | None = None,
    ) -> None:
        super().__init__()
        self.input: str = parts["input"]
        self.embedding: nn.Embedding | None = None
        self.spelling: CharacterCNN | None = None
        self.bilm: BiLM | None = None
        self.mix: LayerMix | None = None
        size = 0
        if bilm is not None:
            # Past torch, which would take them for weights of this network.
            self.__dict__.update(bilm=bilm, spelling=bilm.spelling)
            self.mix = LayerMix()
            size = bilm.width
        elif "W" in self.input:
            self.embedding = nn.Embedding(words, settings.embedding, padding_idx=PAD)
            with torch.no_grad():
                self.embedding.weight.mul_(WORD_VECTOR_SCALE)
            size += settings.embedding
        if bilm is None and "C" in self.input:
            self.spelling = CharacterCNN(settings, characters)
            size += self.spelling.width
        self.encoder = ENCODERS[parts["encoder"]](size, settings, int(parts["layers"]))
        self.pool = HEADS[parts["head"]](self.encoder.width)
        self.ignores_padding: bool = self.encoder.ignores_padding and self.pool.ignores_padding
        self.joined: Joined | None = None
        if "pair" in parts:
            self.joined = Joined(self.encoder.width, parts["pair"], settings.joined)
        self.head = WholeLinear(self.joined.width if self.joined else self.encoder.width, labels)
        self.dropout = nn.Dropout(settings.dropout)
        self.word_dropout = settings.word_dropout

    def forward(self, batch: Batch) -> Tensor:
        return self.logits(self.embed(batch), batch)

    def embed(self, batch: Batch) -> Embedded:
        """Look the embeddings up; in training, some words become unknown here."""
        words, characters = batch.words, batch.characters
        if words is not None and self.embedding is not None:
            if self.training and self.word_dropout:
                forgotten = torch.rand(words.shape, device=words.device) < self.word_dropout
                words = words.masked_fill(forgotten & (words != PAD), UNKNOWN)
            words = self.embedding(words)
        if characters is not None and self.spelling is not None:
            characters = self.spelling.embed(characters)
        return Embedded(words, characters)

    def logits(self, embedded: Embedded, batch: Batch) -> Tensor:
        """Compute the logits from the embeddings."""
        vectors = self.encoder_input(self.vectors(embedded, batch), batch.length)
        return self.classify(vectors, batch.length)

    def classify(self, vectors: Tensor, length: Tensor) -> Tensor:
        """Compute the logits of texts from the input of the encoder.

        Where the sides of a pair are read apart, the rows 2n and 2n + 1 are those of text n.
        """
        logits: Tensor = self.head(self.dropout(self.sentence_vectors(vectors, length)))
        return logits

    def sentence_vectors(self, vectors: Tensor, length: Tensor) -> Tensor:
        """Compute the vector of every text, which the last layer reads."""
        pooled = self.pooled(vectors, length)
        return pooled if self.joined is None else self.joined(pooled[::2], pooled[1::2])

    def pooled(self, vectors: Tensor, length: Tensor) -> Tensor:
        """Compute one vector for every row of words."""
        states = self.states(vectors, length)
        pooled: Tensor = self.pool(states[-1], length, self.encoder)[0]
        return pooled

    def vectors(self, embedded: Embedded, batch: Batch) -> Tensor:
        """Compute one vector for every word of every text, which does not depend on the others."""
        parts = [] if embedded.words is None else [embedded.words]
        if embedded.characters is not None and self.spelling is not None:
            assert batch.characters is not None and batch.which is not None
            length = (batch.characters != 0).sum(dim=1)
            spelt = self.spelling(embedded.characters, length)
            parts.append(spelt[batch.which])
        vectors = parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)
        # Here and not in the table: a feature drops out at one position, not for a whole word. A
        # frozen biLM has not learnt to miss features: what it returns drops out instead.
        dropped: Tensor = vectors if self.bilm is not None else self.dropout(vectors)
        return dropped

    def encoder_input(self, vectors: Tensor, length: Tensor) -> Tensor:
        """Return the input of the encoder: the vectors of words, or as a biLM reads them.

        The latter depend on all words of a text.
        """
        return vectors if self.bilm is None else self.mixed(self.bilm.layers(vectors, length))

    def mixed(self, layers: Sequence[Tensor]) -> Tensor:
        """Mix the layers of the biLM."""
        assert self.mix is not None
        mixed: Tensor = self.dropout(self.mix(layers))
        return mixed

    def states(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        """Compute the states of the encoder's layers from its input, texts × words × width each."""
        states: list[Tensor] = self.encoder(vectors, length)
        return states


def build(
    parts: Mapping[str, Any],
    settings: NetworkSettings,
    words: int,
    characters: int,
    labels: int,
    bilm: BiLM | None = None,
) -> Classifier:
    """Build a network from its parts; its weights are drawn from torch's generator.

    A network with ELMo needs its biLM.
    """
    return Classifier(parts, settings, words, characters, labels, bilm)
