"""A forward and a backward pass of texts: scores, and gradients along the vectors of their words.

One backward pass serves a whole batch of texts, each with its own objective. The weights are those
that the network has when a `GradientPasses` is built, and are never changed. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from brittle.moves import EditRequest
from brittle.ranking.moves import objective_gradient
from brittle.ranking.top_k import Integers, repeat_last
from brittle.text import HOLE, Text, Word
from brittle.zoo.device import without_cudnn
from brittle.zoo.fast.character_gradients import CharacterPasses, CharacterStates
from brittle.zoo.fast.lstm_gradients import LstmGradients
from brittle.zoo.layers import TransformerEncoder
from brittle.zoo.networks import pad_keys, split_by_words, split_rows
from brittle.zoo.scoring import NetworkModel
from brittle.zoo.spellings import CharacterTokenizer

# Of one pass: more needs memory and is no faster.
MAX_WORDS_PER_PASS = 1 << 13
MAX_WORDS_ON_CPU = 1 << 11  # of torch's own passes: larger ones take up to 1.4 times as long
MAX_STATES_PER_PASS = 1 << 20  # words × width of the encoder
MAX_ATTENTION_WEIGHTS_PER_PASS = 1 << 23  # of all heads and layers
MAX_PADDING = 1.5  # words of a pass by those of its texts: padding is cheaper than another pass


@dataclass(frozen=True, eq=False)
class EmbeddedTexts:
    """The vectors of words of a batch of texts, or of the sides of pairs, one after the other.

    They are the input of the encoder or, with ELMo, layer 0 of the biLM. `distinct` has those of
    the distinct words, and `inverse` (texts × words) tells which of them stands where. `token_ids`
    are those of the distinct words in the vocabulary, `spellings` what the character CNN computed
    for them, where the model has one.
    """

    length: Integers
    inverse: Integers
    token_ids: Integers
    distinct: Tensor
    spellings: CharacterStates | None = None

    @property
    def vectors(self) -> Tensor:
        """Return the vectors of all words: texts × words × size."""
        index = torch.from_numpy(self.inverse.reshape(-1)).to(self.distinct.device)
        return self.distinct.index_select(0, index).view(*self.inverse.shape, -1)

    @property
    def lengths(self) -> Tensor:
        return torch.from_numpy(self.length).to(self.distinct.device)


@dataclass(frozen=True, eq=False)
class WordGradients:
    """Scores of a batch of texts, and gradients at some of their words.

    `positions` and `words` list these words for every text. Text after text, `index` tells for each
    which of the distinct words it is, and `gradient`, on the CPU, has a row for each: the gradient
    of the text's objective along its vector.
    """

    requests: Sequence[EditRequest]
    embedded: EmbeddedTexts
    scores: list[list[float]]
    positions: Sequence[Sequence[int]]
    words: Sequence[Sequence[Word]]
    index: Integers
    gradient: Tensor

    @property
    def token_ids(self) -> Integers:
        """Return the ids of the words in the vocabulary."""
        return self.embedded.token_ids[self.index]

    @property
    def vectors(self) -> Tensor:
        """Return the vectors of the words, on the CPU."""
        return self.embedded.distinct.cpu().index_select(0, torch.from_numpy(self.index))

    def texts(self) -> Iterator[tuple[Sequence[int], Sequence[Word], slice]]:
        """Yield for every text its positions, their words, and their rows of `gradient`."""
        ends = np.cumsum([len(words) for words in self.words]).tolist()
        return zip(self.positions, self.words, map(slice, [0, *ends], ends))

    def character_gradients(self, max_characters: int) -> tuple[Integers, Tensor]:
        """Count the characters of each word that are read, and compute the gradient along them.

        Words shorter than `max_characters` have one row more, for the end of the word.
        """
        states = self.embedded.spellings
        assert states is not None
        # A word's own embedding, if there is one, comes before the vector of its spelling.
        gradient = self.gradient[:, -states.vectors.shape[1] :]
        return states.length[self.index], states.backward(self.index, gradient, max_characters)


class GradientPasses:
    """Computes gradients of a model, in batches of texts sorted by length."""

    def __init__(self, model: NetworkModel) -> None:
        self.model = model
        self.network, self.tokenizer, self.device = model.network, model.tokenizer, model.device
        spelling = model.network.spelling
        self.character_passes = None if spelling is None else CharacterPasses(spelling)
        is_fast = self.device == "cpu" and LstmGradients.fits(self.network)
        self._lstm = LstmGradients(self.network) if is_fast else None

    def _requested_columns(
        self, request: EditRequest
    ) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """Return the positions of a request that can be edited, their sides and their columns.

        Words that are not read are left out and, where characters are edited, so are holes.
        """
        positions, words = request.positions, request.text.words
        if request.space.level == "characters" and (HOLE in words or "" in words):
            positions = [i for i in positions if isinstance(words[i], str) and words[i]]
        sides = self.model.columns(request.text)
        if len(sides) == 1 and isinstance(sides[0][1], range):
            columns = sides[0][1]
            if positions and max(positions) >= len(columns):
                positions = [i for i in positions if i in columns]
            return positions, [0] * len(positions), positions
        where = {
            position: (side, column)
            for side, (read, columns) in enumerate(sides)
            for position, column in zip(read, columns)
        }
        positions = [i for i in positions if i in where]
        return positions, [where[i][0] for i in positions], [where[i][1] for i in positions]

    def embed(self, texts: Sequence[Text]) -> Iterator[tuple[list[int], EmbeddedTexts]]:
        """Yield batches of texts: their numbers, and the input of the encoder."""
        keys = self.model.encode(texts)
        if keys:
            one_length = self.device == "cpu" and not self.network.ignores_padding
            sides = self.tokenizer.sides
            for numbers in split_by_words(keys, self._max_words(keys), one_length, sides):
                yield numbers, self._embed_batch([keys[n] for n in numbers])

    def _max_words(self, keys: Sequence[bytes]) -> int:
        """Return how many words a pass may have, with padding, so that all have about as many."""
        lengths = [len(key) >> 2 for key in keys]
        limit = min(MAX_WORDS_PER_PASS, MAX_STATES_PER_PASS // self.network.encoder.width)
        if self.device == "cpu" and self._lstm is None:
            limit = min(limit, MAX_WORDS_ON_CPU)
        if isinstance(self.network.encoder, TransformerEncoder):
            layers: list[Any] = list(self.network.encoder.layers)
            heads = sum(layer.heads for layer in layers)
            limit = min(limit, MAX_ATTENTION_WEIGHTS_PER_PASS // (heads * max(lengths)))
        passes = -(-sum(lengths) // max(1, limit))
        return int(MAX_PADDING * sum(lengths) / passes) + 1

    def compute(self, requests: Sequence[EditRequest]) -> Iterator[tuple[list[int], WordGradients]]:
        """Yield batches of requests: their numbers, scores and gradients."""
        for numbers, embedded in self.embed([request.text for request in requests]):
            batch = [requests[n] for n in numbers]
            where = [self._requested_columns(request) for request in batch]
            positions = [positions for positions, _, _ in where]
            words = [[r.text.words[i] for i in at] for r, at in zip(batch, positions)]
            row = np.repeat(np.arange(len(batch)), [len(at) for at in positions])
            side = np.array([i for _, sides, _ in where for i in sides], dtype=np.int64)
            row = row * (len(embedded.inverse) // len(batch)) + side
            column = np.array([i for _, _, columns in where for i in columns], dtype=np.int64)
            scores, gradient = self._backward(embedded, batch, row, column)
            index = embedded.inverse[row, column]
            yield numbers, WordGradients(batch, embedded, scores, positions, words, index, gradient)

    def _embed_batch(self, keys: Sequence[bytes]) -> EmbeddedTexts:
        ids, length = pad_keys(split_rows(keys, self.tokenizer))
        distinct, inverse = np.unique(ids, return_inverse=True)
        parts, token_ids, states = [], distinct, None
        if isinstance(self.tokenizer, CharacterTokenizer):
            token_ids = self.tokenizer.words(distinct)
        with torch.no_grad():
            if self.network.embedding is not None:
                parts.append(self.network.embedding(torch.from_numpy(token_ids).to(self.device)))
            if self.character_passes is not None and isinstance(self.tokenizer, CharacterTokenizer):
                states = self.character_passes.forward(self.tokenizer.characters(distinct))
                parts.append(states.vectors.to(self.device))
            vectors = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
        return EmbeddedTexts(length, inverse.reshape(ids.shape), token_ids, vectors, states)

    def _backward(
        self,
        embedded: EmbeddedTexts,
        requests: Sequence[EditRequest],
        row: Integers,
        column: Integers,
    ) -> tuple[list[list[float]], Tensor]:
        """Compute the scores of texts, and the gradients at the words of some rows and columns."""
        if self._lstm is not None:
            with torch.no_grad():
                state = self._lstm.forward(embedded.distinct, embedded.inverse, embedded.length)
                scores = state.logits.double().softmax(dim=1)
                gradient = state.backward(objective_gradient(scores, requests).to(state.logits))
            index = torch.from_numpy(column * len(requests) + row)
            gradient = gradient.transpose(1, 2).flatten(0, 1)
            return scores.tolist(), gradient.index_select(0, index)
        with torch.enable_grad(), without_cudnn(self.device):
            texts = repeat_last(np.arange(len(requests)))
            sides = np.arange(len(embedded.inverse) // len(requests))
            rows = torch.from_numpy((texts[:, None] * len(sides) + sides).ravel()).to(self.device)
            vectors = embedded.vectors[rows].requires_grad_()
            lengths = embedded.lengths[rows]
            inputs = self.network.encoder_input(vectors, lengths)
            logits = self.network.classify(inputs, lengths)[: len(requests)]
            scores = logits.detach().cpu().double().softmax(dim=1)
            weight = objective_gradient(scores, requests).to(logits)
            # The sum has the gradient `weight` along the logits. Passed as `grad_outputs` instead,
            # it would make torch import sympy, which takes a second.
            [gradient] = torch.autograd.grad((logits * weight).sum(), vectors)
        index = torch.from_numpy(row * embedded.inverse.shape[1] + column)
        return scores.tolist(), gradient.cpu().flatten(0, 1).index_select(0, index)
