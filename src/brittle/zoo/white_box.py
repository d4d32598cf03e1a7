"""What a network of the zoo shows of its inside: gradients, vectors by layer, attention.

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

from brittle.answers import Attention, Embedding
from brittle.errors import UsageError, unknown
from brittle.moves import EditRequest, EditSpace, GradientAnswer, Level, ScoredMoves
from brittle.text import Text, Word
from brittle.zoo.edit_ranking import EditRanking
from brittle.zoo.gradients import EmbeddedTexts, GradientPasses, WordGradients
from brittle.zoo.layers import LSTM_LAYERS, AttentionPooling, AverageEncoder, TransformerEncoder
from brittle.zoo.scoring import NetworkModel
from brittle.zoo.spellings import CharacterTokenizer

Array = NDArray[np.float64]


class NetworkWhiteBox:
    """The inside of a network, whose name is for messages.

    Weights are read as they are now: when they change, a new object is needed.
    """

    def __init__(self, model: NetworkModel, name: str = "This network") -> None:
        self.model, self.name = model, name
        self.network, self.tokenizer = model.network, model.tokenizer
        words = model.vocabulary.words
        self.vocabulary = tuple(word for word in words if not word.startswith("<"))
        self._passes = GradientPasses(model)
        self._ranking = EditRanking(self._passes, model.vocabulary, self.vocabulary)

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        """Return for every text the positions of the words that are read, in order."""
        return self.model.words_read(items)

    def logits(self, items: Sequence[Text]) -> Array:
        """Compute the scores before the softmax."""
        if not items:
            return np.zeros((0, self.network.head.out_features))
        return np.asarray(self.model.logits(self.model.encode(items)), dtype=np.float64)

    def flips(self, requests: Sequence[EditRequest]) -> list[ScoredMoves]:
        """Compute every text's scores and best edits, by one forward and one backward pass each."""
        by_space: dict[EditSpace, list[int]] = {}
        for n, request in enumerate(requests):
            by_space.setdefault(request.space, []).append(n)
        answers: dict[int, ScoredMoves] = {}
        for space, numbers in by_space.items():
            answers.update(zip(numbers, self._ranking.rank([requests[n] for n in numbers], space)))
        return [answers[n] for n in range(len(requests))]

    def gradients(self, requests: Sequence[EditRequest]) -> list[GradientAnswer]:
        """Compute every text's scores, and the gradient of its objective at all words it reads.

        For words (words × dimensions) it is the gradient along the encoder's input: the vector of
        a word, that of its spelling after the highways (with ELMo this is layer 0 of the biLM, not
        the encoder's input), or both one after the other. For characters
        (an array for every word) it is the gradient along their embeddings; a model that reads no
        characters has there the row of the word. Words that are not read have zeros.
        """
        answers: dict[int, GradientAnswer] = {}
        for level in ("words", "characters"):
            numbers = [n for n, request in enumerate(requests) if request.space.level == level]
            texts = [requests[n].text for n in numbers]
            whole = [
                replace(requests[n], positions=positions)
                for n, positions in zip(numbers, self.words_read(texts))
            ]
            for batch, gradients in self._passes.compute(whole):
                values: list[Any] = _by_word(gradients)
                if level == "characters":
                    values = self._by_character(gradients, values)
                for n, scores, value in zip(batch, gradients.scores, values):
                    answers[numbers[n]] = GradientAnswer(scores, value)
        return [answers[n] for n in range(len(requests))]

    def _by_character(
        self, gradients: WordGradients, by_word: Sequence[Array]
    ) -> list[list[Array]]:
        texts = [request.text for request in gradients.requests]
        if not isinstance(self.tokenizer, CharacterTokenizer):
            return [_repeat(text.words, value) for text, value in zip(texts, by_word)]
        limit = self.tokenizer.spelling
        count, gradient = gradients.character_gradients(limit)
        stops = np.cumsum(np.minimum(count + 1, limit))
        rows = gradient.double().numpy()
        values, n = [], 0
        for text, positions in zip(texts, gradients.positions):
            value = [np.zeros((_length(word), rows.shape[1])) for word in text.words]
            for position in positions:
                start = stops[n - 1] if n else 0
                value[position][: count[n]] = rows[start : start + count[n]]
                n += 1
            values.append(value)
        return values

    @cached_property
    def layers(self) -> tuple[str, ...]:
        """Name the layers: embeddings of words, vectors of spellings, biLM, encoder."""
        network = self.network
        names = [] if network.embedding is None else ["embedding"]
        if network.spelling is not None:
            names.append("characters")
            names += [f"highway {n + 1}" for n in range(len(network.spelling.highways))]
        if network.bilm is not None:
            names += [f"biLM {n}" for n in range(LSTM_LAYERS + 1)]
        if isinstance(network.encoder, AverageEncoder):
            return tuple(names)
        empty = Text.of({"first": "", "second": ""} if self.tokenizer.sides else "")
        [(_, embedded)] = self._passes.embed([empty])
        states = self._states(embedded)
        return (*names, *(f"layer {n + 1}" for n in range(len(states))))

    def embeddings(self, items: Sequence[Text], layer: str, level: Level = "words") -> list[Any]:
        """Compute the vectors of words at a layer (words × dimensions), NaN for words not read.

        The layer "embedding" are the vectors of words; "characters" are the maxima of the
        convolutions over a word's spelling, before the highways. For characters there is a list
        with an array for every word. At the layer "characters" these are the embeddings of the
        characters themselves; at all others each character has the row of its word.
        """
        if layer not in self.layers:
            raise unknown(f"layer of {self.name}", layer, self.layers)
        values: dict[int, Any] = {}
        for batch, embedded in self._passes.embed(items):
            state = self._state(embedded, layer).cpu().double().numpy()
            for n, by_side in zip(batch, _by_side(state, len(batch))):
                text = items[n]
                if level == "characters" and layer == "characters":
                    read = frozenset(self.model.words_read([text])[0])
                    values[n] = self._character_embeddings(text, read)
                    continue
                value = np.full((len(text), state.shape[2]), np.nan)
                for rows, (positions, columns) in zip(by_side, self.model.columns(text)):
                    value[list(positions)] = rows[list(columns)]
                values[n] = _repeat(text.words, value) if level == "characters" else value
        return [values[n] for n in range(len(items))]

    def _state(self, embedded: EmbeddedTexts, layer: str) -> Tensor:
        kind, _, number = layer.partition(" ")
        if kind == "layer":
            return self._states(embedded)[int(number) - 1]
        if kind == "biLM":
            assert self.network.bilm is not None
            with torch.no_grad():
                return self.network.bilm.layers(embedded.vectors, embedded.lengths)[int(number)]
        if kind == "embedding":
            assert self.network.embedding is not None
            return embedded.vectors[:, :, : self.network.embedding.embedding_dim]
        assert embedded.spellings is not None
        return embedded.spellings.layers[int(number or 0)][torch.from_numpy(embedded.inverse)]

    def _states(self, embedded: EmbeddedTexts) -> list[Tensor]:
        """Compute the states of the encoder's layers."""
        with torch.no_grad():
            return self.network.states(self._encoder_input(embedded), embedded.lengths)

    def _encoder_input(self, embedded: EmbeddedTexts) -> Tensor:
        return self.network.encoder_input(embedded.vectors, embedded.lengths)

    def _character_embeddings(self, text: Text, positions: frozenset[int]) -> list[Array]:
        """Return the embeddings of the characters of a text's words, NaN for those not read."""
        passes, tokenizer = self._passes.character_passes, self.tokenizer
        assert passes is not None and isinstance(tokenizer, CharacterTokenizer)
        values = []
        for position, word in enumerate(text.words):
            value = np.full((_length(word), passes.size), np.nan)
            if position in positions and len(value):
                ids = list(tokenizer.character_ids(str(word)))
                value[: len(ids)] = passes.table[ids].double().numpy()
            values.append(value)
        return values

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        """Compute the vector of every text that the last layer reads, and the scores."""
        return self.canonical_embeddings(self.model.encode(items))

    def canonical_embeddings(self, keys: Sequence[bytes]) -> list[Embedding]:
        """Compute the same of texts by their keys."""
        if not keys:
            return []
        vectors, logits = self.model.vectors_and_logits(keys)
        scores = torch.from_numpy(logits).double().softmax(dim=1).tolist()
        return list(map(Embedding, vectors.astype(np.float64), scores))

    def attention(self, items: Sequence[Text]) -> list[Attention]:
        """Compute for every text the attention weights of its words, from row to column.

        A self-attention encoder has layers × heads × words × words, a head that attends has 1 × 1 ×
        1 × words. The summary of a head that attends are its weights. Other heads read several
        positions: their rows are averaged by the share that each has in the vector of the text (the
        last word alone, all alike, or those with the maxima). Words that are not read have zeros;
        what goes to words of locked fields goes elsewhere. Sides of a pair that are read apart
        attend to themselves only, and each has its summary.
        """
        encoder, head = self.network.encoder, self.network.pool
        if not isinstance(encoder, TransformerEncoder) and not isinstance(head, AttentionPooling):
            raise UsageError(
                f"{self.name} has no attention. Use a model with attention, such as "
                "Transformer or BiLSTM-attention, or an attack that uses gradients."
            )
        values: dict[int, Attention] = {}
        for batch, embedded in self._passes.embed(items):
            weights, summaries = (part.cpu().double().numpy() for part in self._attend(embedded))
            sides = (_by_side(part, len(batch)) for part in (weights, summaries))
            for n, side_weights, side_summaries in zip(batch, *sides):
                words = len(items[n])
                row_count = words if isinstance(encoder, TransformerEncoder) else 1
                value = np.zeros((*weights.shape[1:3], row_count, words))
                summary = np.zeros((*summaries.shape[1:3], words))
                elsewhere = np.zeros((*weights.shape[1:3], row_count))
                summary_elsewhere = np.zeros(summaries.shape[1:3])
                layers_and_heads = [range(size) for size in weights.shape[1:3]]
                read = self.model.columns(items[n])
                for weight, given, where in zip(side_weights, side_summaries, read):
                    positions, columns = map(list, where)
                    rows, from_rows = positions, columns
                    if not isinstance(encoder, TransformerEncoder):
                        rows, from_rows = [0], [0]
                    value[np.ix_(*layers_and_heads, rows, positions)] = weight[
                        np.ix_(*layers_and_heads, from_rows, columns)
                    ]
                    summary[..., positions] = given[..., columns]
                    others = np.delete(weight[..., from_rows, :], columns, axis=-1)
                    elsewhere[..., rows] += others.sum(axis=-1)
                    summary_elsewhere += np.delete(given, columns, axis=-1).sum(axis=-1)
                values[n] = Attention(value, summary, elsewhere, summary_elsewhere)
        return [values[n] for n in range(len(items))]

    def _attend(self, embedded: EmbeddedTexts) -> tuple[Tensor, Tensor]:
        """Compute the weights, texts × layers × heads × rows × words, and the summaries."""
        encoder, length = self.network.encoder, embedded.lengths
        with torch.no_grad():
            if not isinstance(encoder, TransformerEncoder):
                states = self._states(embedded)
                weight = self.network.pool(states[-1], length, encoder)[1][:, None, None]
                return weight[:, :, :, None], weight
            states, layers = encoder.attend(self._encoder_input(embedded), length)
        weights = torch.stack(layers, dim=1)
        with torch.enable_grad():
            state = states[-1].requires_grad_()
            pooled, own = self.network.pool(state, length, encoder)
            if own is not None:
                return weights, own.detach()[:, None, None]
            # Every feature of the pooled vector is an average over positions: its shares.
            share = torch.autograd.grad(pooled.sum(), state)[0].mean(dim=2)
        return weights, (share[:, None, None, None] @ weights).squeeze(3)


def _by_side(rows: NDArray[Any], texts: int) -> NDArray[Any]:
    """Return the rows of every text: one or, of a pair whose sides are read apart, two."""
    return rows.reshape(texts, -1, *rows.shape[1:])


def _by_word(gradients: WordGradients) -> list[Array]:
    """Return the gradient of every text, with zeros for its other words."""
    gradient = gradients.gradient.double().numpy()
    values = []
    for request, (positions, _, rows) in zip(gradients.requests, gradients.texts()):
        value = np.zeros((len(request.text), gradient.shape[1]))
        value[list(positions)] = gradient[rows]
        values.append(value)
    return values


def _repeat(words: Sequence[Word], value: Array) -> list[Array]:
    """Repeat the row of each word for all its characters."""
    return [np.repeat(row[None], _length(word), axis=0) for word, row in zip(words, value)]


def _length(word: Word) -> int:
    return len(word) if isinstance(word, str) else 0
