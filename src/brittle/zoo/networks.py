"""Networks of words or spellings, the arrays they read, and the language model of a biLM.

A network built from its parts: input, encoder, head; words or spellings in, logits out. This file
needs torch; it is imported where a network is built. From encoded texts to the arrays a network
reads. This file needs torch. The language model that a biLM is trained as: it predicts the words on
both sides. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.ranking.top_k import WholeLinear
from brittle.zoo.layers import ENCODERS, HEADS, BiLM, CharacterCNN, Joined, LayerMix
from brittle.zoo.names.settings import LanguageModelSettings, NetworkSettings
from brittle.zoo.spellings import CharacterTokenizer
from brittle.zoo.tokenizers import ID_BYTES, PAD, SPECIAL_WORDS, UNKNOWN, WordTokenizer, split_sides

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


Tokenizer = WordTokenizer | CharacterTokenizer
"""Encodes texts as keys: the tokenizer of a word model or of a character model."""


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


BILM_PREFIX = "bilm."  # of the names of the biLM's tensors in the file
TAIL_SHRINKS_BY = 2.0  # the features of a rarer group of words, by those of the group before


class LanguageModel(nn.Module):
    """A `BiLM` that predicts the next word forward and backward, with one softmax for both."""

    def __init__(self, settings: LanguageModelSettings, words: int, characters: int) -> None:
        super().__init__()
        classes = words - len(SPECIAL_WORDS)
        cutoffs = sorted({max(1, classes // 10), max(2, 2 * classes // 5)})
        self.bilm = BiLM(settings, characters)
        # One feature more, always 1: torch's softmax has no biases for rare words.
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(
            settings.hidden + 1, classes, cutoffs, div_value=TAIL_SHRINKS_BY
        )

    def begin_with_frequencies(self, count: Tensor) -> None:
        """Set the first weights so that words are predicted by their counts in the train split.

        If the frequencies were still to be learnt, the states of the LSTMs would all become one
        large constant, and learn next to nothing of the words for a long time.
        """
        edges = [0, *self.softmax.cutoffs]
        groups = [count[start:end].double() for start, end in pairwise(edges)]
        totals = torch.stack([group.sum() for group in groups[1:]])
        tails: list[Any] = list(self.softmax.tail)
        with torch.no_grad():
            self.softmax.head.weight[:, -1] = _log_shares(torch.cat([groups[0], totals]))
            for (enter, out), group in zip(tails, groups[1:]):
                enter.weight[0], enter.weight[:, -1] = 0.0, 0.0
                enter.weight[0, -1] = 1.0
                out.weight[:, 0] = _log_shares(group)

    def losses(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compute the losses of the predicted words, forward and backward.

        The first word of a text is predicted backward only, the last one forward only, and words
        outside the vocabulary never.
        """
        assert batch.words is not None
        vectors = self.bilm.dropout(self._word_vectors(batch))
        states = self.bilm.layers(vectors, batch.length)[-1]
        ahead, back = self.bilm.dropout(states).chunk(2, dim=2)
        before, after = batch.words[:, :-1], batch.words[:, 1:]
        # Behind the last word of a text stands padding, from which nothing is predicted.
        before = before.masked_fill(after == PAD, PAD)
        return self._loss(ahead[:, :-1], after), self._loss(back[:, 1:], before)

    def _word_vectors(self, batch: Batch) -> Tensor:
        assert batch.characters is not None and batch.which is not None
        spelling = self.bilm.spelling
        length = (batch.characters != 0).sum(dim=1)
        vectors: Tensor = spelling(spelling.embed(batch.characters), length)
        return vectors[batch.which]

    def _loss(self, states: Tensor, words: Tensor) -> Tensor:
        known = words >= len(SPECIAL_WORDS)
        target = words[known] - len(SPECIAL_WORDS)
        if not len(target):
            return states.new_zeros(0)
        features = nn.functional.pad(states[known], (0, 1), value=1.0)
        loss: Tensor = -self.softmax(features, target).output
        return loss


def _log_shares(count: Tensor) -> Tensor:
    return (count / count.sum()).log().float()
