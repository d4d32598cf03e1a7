"""What a network of the zoo shows of its inside: slopes, vectors by layer, attention.

Everything comes per word, or per character, of the user's text. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.errors import UsageError, unknown
from brittle.moves import EditRequest, EditSpace, Gradient, Level, ScoredMoves
from brittle.text import Text, Word
from brittle.zoo.edits import EditRanking
from brittle.zoo.gradients import EmbeddedTexts, GradientPasses, WordGradients
from brittle.zoo.layers.encoders import TransformerEncoder
from brittle.zoo.layers.heads import Attention
from brittle.zoo.scoring import NetworkModel
from brittle.zoo.tokenizers.characters import CharacterTokenizer

Array = NDArray[np.float64]


class NetworkWhiteBox:
    """The inside of a network, whose name is for messages.

    Weights are read as they are now: when they change, a new object is needed.
    """

    def __init__(self, model: NetworkModel, name: str = "This network") -> None:
        self.model, self.name = model, name
        self.network, self.reader = model.network, model.reader
        words = model.vocabulary.words
        self.vocabulary = tuple(word for word in words if not word.startswith("<"))
        self._passing = GradientPasses(model)
        self._ranking = EditRanking(self._passing, model.vocabulary, self.vocabulary)

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        """Give for every text the positions of the words that are read, in order."""
        return [self._passing.columns(text)[0] for text in items]

    def logits(self, items: Sequence[Text]) -> Array:
        """Give the scores before the softmax."""
        width = self.network.head.out_features
        found = self.model.logits(self.model.encode(items)) if items else np.zeros((0, width))
        return np.asarray(found, dtype=np.float64)

    def flips(self, aims: Sequence[EditRequest]) -> list[ScoredMoves]:
        """Give every text's scores and best edits, by one forward and one backward pass each."""
        by_space: dict[EditSpace, list[int]] = {}
        for n, aim in enumerate(aims):
            by_space.setdefault(aim.space, []).append(n)
        found: dict[int, ScoredMoves] = {}
        for space, numbers in by_space.items():
            for some, seen in self._passing.seen([aims[n] for n in numbers]):
                ranked = self._ranking.best(seen, space)
                for n, scores, moves in zip(some, seen.scores, ranked):
                    found[numbers[n]] = ScoredMoves(scores, moves)
        return [found[n] for n in range(len(aims))]

    def gradients(self, aims: Sequence[EditRequest]) -> list[Gradient]:
        """Give every text's scores, and the slope of its objective at all words that are read.

        For words (words × dimensions) it is taken along what the encoder takes: the vector of a
        word, that of its spelling after the highways, or both one after the other. For characters
        (an array for every word) it is taken along the vectors of characters; a model that reads
        none has there the row of the word for each. What is not read has zeros.
        """
        found: dict[int, Gradient] = {}
        for level in ("words", "characters"):
            numbers = [n for n, aim in enumerate(aims) if aim.space.level == level]
            texts = [aims[n].text for n in numbers]
            whole = [
                replace(aims[n], positions=at) for n, at in zip(numbers, self.words_read(texts))
            ]
            for some, seen in self._passing.seen(whole):
                slopes: list[Any] = _by_word([texts[n] for n in some], seen)
                if level == "characters":
                    slopes = self._by_character([texts[n] for n in some], seen, slopes)
                for n, scores, value in zip(some, seen.scores, slopes):
                    found[numbers[n]] = Gradient(scores, value)
        return [found[n] for n in range(len(aims))]

    def _by_character(
        self, texts: Sequence[Text], seen: WordGradients, by_word: Sequence[Array]
    ) -> list[list[Array]]:
        if not isinstance(self.reader, CharacterTokenizer):
            return [_repeated(text.words, value) for text, value in zip(texts, by_word)]
        most = self.reader.spelling
        count, gradient = seen.characters(most)
        last = np.cumsum(np.minimum(count + 1, most))
        parts = np.split(gradient.double().numpy(), last[:-1]) if len(last) else []
        found, at = [], 0
        for text, positions in zip(texts, seen.positions):
            value = [np.zeros((_length(word), gradient.shape[1])) for word in text.words]
            for position in positions:
                value[position][: count[at]] = parts[at][: count[at]]
                at += 1
            found.append(value)
        return found

    @cached_property
    def layers(self) -> tuple[str, ...]:
        """Name what a word goes through: its own vector, that of its spelling, the encoder."""
        network = self.network
        names = [] if network.embedding is None else ["embedding"]
        if network.spelling is not None:
            names.append("characters")
            names += [f"highway {n + 1}" for n in range(len(network.spelling.highways))]
        [(_, entered)] = self._passing.entered([Text.of("")])
        with torch.no_grad():
            states = network.states(entered.vectors, entered.lengths)
        return (*names, *(f"layer {n + 1}" for n in range(len(states))))

    def embeddings(self, items: Sequence[Text], layer: str, level: Level = "words") -> list[Any]:
        """Give how the words of texts stand at a layer (words × dimensions), NaN if not read.

        The layer "embedding" are the vectors of words; "characters" are the maxima of the
        convolutions over a word's spelling, before the highways. For characters there is a list
        with an array for every word. At the layer "characters" these are the vectors of the
        characters themselves; at all others each character has the row of its word.
        """
        if layer not in self.layers:
            raise unknown(f"layer of {self.name}", layer, self.layers)
        found: dict[int, Any] = {}
        for some, entered in self._passing.entered(items):
            state = self._state(entered, layer).cpu().double().numpy()
            for n, rows in zip(some, state):
                text = items[n]
                positions, columns = self._passing.columns(text)
                if level == "characters" and layer == "characters":
                    found[n] = self._spelt(text, frozenset(positions))
                    continue
                value = np.full((len(text), state.shape[2]), np.nan)
                value[list(positions)] = rows[list(columns)]
                found[n] = _repeated(text.words, value) if level == "characters" else value
        return [found[n] for n in range(len(items))]

    def _state(self, entered: EmbeddedTexts, layer: str) -> Tensor:
        kind, _, number = layer.partition(" ")
        if kind == "layer":
            with torch.no_grad():
                return self.network.states(entered.vectors, entered.lengths)[int(number) - 1]
        if kind == "embedding":
            assert self.network.embedding is not None
            return entered.vectors[:, :, : self.network.embedding.embedding_dim]
        assert entered.spelt is not None
        return entered.spelt.steps[int(number or 0)][torch.from_numpy(entered.which)]

    def _spelt(self, text: Text, read: frozenset[int]) -> list[Array]:
        """Give the vectors of the characters of a text's words, NaN for those not read."""
        speller, reader = self._passing.speller, self.reader
        assert speller is not None and isinstance(reader, CharacterTokenizer)
        found = []
        for position, word in enumerate(text.words):
            value = np.full((_length(word), speller.size), np.nan)
            if position in read and len(value):
                numbers = list(reader.character_ids(str(word)))
                value[: len(numbers)] = speller.table[numbers].double().numpy()
            found.append(value)
        return found

    def attention(self, items: Sequence[Text]) -> list[Array]:
        """Give for every text the weights of its words, from row to column.

        Of a self-attention encoder layers × heads × words × words, of a head that attends 1 × 1 ×
        1 × words. Words that are not read have zeros; what goes to words of locked fields is left
        out, so that not all rows add up to 1.
        """
        encoder, head = self.network.encoder, self.network.pool
        if not isinstance(encoder, TransformerEncoder) and not isinstance(head, Attention):
            raise UsageError(
                f"{self.name} has no attention. Ask a model that has, such as Transformer or "
                "BiLSTM-attention, or ask this one for its gradients."
            )
        found: dict[int, Array] = {}
        for some, entered in self._passing.entered(items):
            with torch.no_grad():
                weights = self._weights(entered).cpu().double().numpy()
            for n, weight in zip(some, weights):
                positions, columns = (list(part) for part in self._passing.columns(items[n]))
                value = np.zeros((*weight.shape[:2], len(items[n]), len(items[n])))
                rows, at = positions, columns
                if not isinstance(encoder, TransformerEncoder):
                    value, rows, at = value[:, :, :1], [0], [0]
                value[np.ix_(*map(range, weight.shape[:2]), rows, positions)] = weight[
                    np.ix_(*map(range, weight.shape[:2]), at, columns)
                ]
                found[n] = value
        return [found[n] for n in range(len(items))]

    def _weights(self, entered: EmbeddedTexts) -> Tensor:
        """Give the weights of a batch: texts × layers × heads × words × words, or one row."""
        encoder, length = self.network.encoder, entered.lengths
        if isinstance(encoder, TransformerEncoder):
            return torch.stack(encoder.attended(entered.vectors, length)[1], dim=1)
        states = self.network.states(entered.vectors, length)
        weight: Tensor = self.network.pool(states[-1], length, encoder)[1]
        return weight[:, None, None, None]


def _by_word(texts: Sequence[Text], seen: WordGradients) -> list[Array]:
    found = []
    gradient = seen.gradient.double().numpy()
    for text, positions, (start, stop) in zip(texts, seen.positions, seen.spans):
        value = np.zeros((len(text), gradient.shape[1]))
        value[list(positions)] = gradient[start:stop]
        found.append(value)
    return found


def _repeated(words: Sequence[Word], value: Array) -> list[Array]:
    return [np.repeat(row[None], _length(word), axis=0) for word, row in zip(words, value)]


def _length(word: Word) -> int:
    return len(word) if isinstance(word, str) else 0
