"""The best edits of texts, for a network that reads words, spellings or both.

This file needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from brittle.moves import EditRequest, EditSpace, Moves, ScoredMoves
from brittle.ranking.characters import CharacterEdits, EditedWords
from brittle.ranking.edited_words import rank_by_vectors
from brittle.ranking.moves import rank_as_needed
from brittle.ranking.subwords import SubwordEdits, TokenGradients
from brittle.ranking.words import VectorGradients, WordSwaps
from brittle.zoo.gradients import GradientPasses, WordGradients
from brittle.zoo.tokenizers.characters import CharacterTokenizer
from brittle.zoo.tokenizers.words import UNKNOWN, WordTokenizer

WORDS_PER_PASS = 1 << 12  # words of the vocabulary whose spellings are read at once


class EditRanking:
    """Ranks the edits of texts by their gradients; `words` are those of the vocabulary."""

    def __init__(
        self, passes: GradientPasses, vocabulary: WordTokenizer, words: Sequence[str]
    ) -> None:
        self.passes, self.vocabulary, self.words = passes, vocabulary, words

    def rank(self, requests: Sequence[EditRequest], space: EditSpace) -> list[ScoredMoves]:
        """Compute the scores and the best edits of texts, all in one space."""
        tokenizer = self.passes.tokenizer
        numbers: list[int] = []
        scores: list[list[float]] = []
        texts: list[Any] = []
        moves: list[Moves] = []
        for batch, gradients in self.passes.compute(requests):
            numbers += batch
            scores += gradients.scores
            if not isinstance(tokenizer, CharacterTokenizer):
                texts += _token_gradients(gradients, space)
            elif space.level == "words":
                texts += _vector_gradients(gradients, space)
            else:
                moves += self._rank_characters(gradients, space, tokenizer)
        if texts:
            reads_words = isinstance(tokenizer, WordTokenizer)
            rank = self._token_edits.rank if reads_words else self._word_swaps.rank
            moves = rank_as_needed([requests[n] for n in numbers], scores, texts, rank)
        answers = dict(zip(numbers, map(ScoredMoves, scores, moves)))
        return [answers[n] for n in range(len(requests))]

    def _rank_characters(
        self, gradients: WordGradients, space: EditSpace, tokenizer: CharacterTokenizer
    ) -> Sequence[Moves]:
        gradient = gradients.character_gradients(tokenizer.spelling)[1]
        embedding = self.passes.network.embedding
        unknown_gain = was_known = None
        if embedding is not None:
            # At the same time the word as a whole becomes the unknown one.
            token, table = gradients.token_ids, embedding.weight.detach().cpu()
            own = gradients.gradient[:, : table.shape[1]]
            own = own.sign() if space.sign else own
            change = table[UNKNOWN] - table[torch.from_numpy(token)]
            unknown_gain, was_known = (change * own).sum(dim=1).numpy(), token != UNKNOWN
        texts = [
            EditedWords(
                positions,
                [str(word) for word in words],
                None if unknown_gain is None else unknown_gain[rows],
                None if was_known is None else was_known[rows],
            )
            for positions, words, rows in gradients.texts()
        ]
        moves = self._character_edits.rank(texts, gradient, replace(space, estimate="paper"))
        if space.estimate == "paper":
            return moves
        direction = gradients.gradient.sign() if space.sign else gradients.gradient
        return rank_by_vectors(moves, direction, gradients.vectors, self._compute_vectors)

    def _compute_vectors(self, words: Sequence[str]) -> Tensor:
        """Compute the encoder's input for words, whether or not they stand in a text."""
        convolution, tokenizer = self.passes.character_passes, self.passes.tokenizer
        assert convolution is not None and isinstance(tokenizer, CharacterTokenizer)
        parts = []
        for start in range(0, len(words), WORDS_PER_PASS):
            part = words[start : start + WORDS_PER_PASS]
            characters = np.zeros((len(part), tokenizer.spelling), dtype=np.int64)
            for row, word in zip(characters, part):
                ids = tokenizer.character_ids(word)
                row[: len(ids)] = ids
            parts.append(convolution.forward(characters).vectors)
        spelt = (
            torch.cat(parts) if parts else convolution.filters.new_zeros((0, convolution.kernels))
        )
        if self.passes.network.embedding is None:
            return spelt
        table = self.passes.network.embedding.weight.detach().cpu()
        token = torch.tensor([self.vocabulary.token_id(word) for word in words], dtype=torch.long)
        return torch.cat([table[token], spelt], dim=1)

    @cached_property
    def _token_edits(self) -> SubwordEdits:
        embedding, token_id = self.passes.network.embedding, self.vocabulary.token_id
        assert embedding is not None
        return SubwordEdits(
            embedding.weight.detach().cpu(),
            self.words,
            [token_id(word) for word in self.words],
            lambda words: [(token_id(word),) for word in words],
        )

    @cached_property
    def _word_swaps(self) -> WordSwaps:
        return WordSwaps(self.words, self._compute_vectors)

    @cached_property
    def _character_edits(self) -> CharacterEdits:
        convolution, tokenizer = self.passes.character_passes, self.passes.tokenizer
        assert convolution is not None and isinstance(tokenizer, CharacterTokenizer)
        vocabulary = frozenset(self.words)
        return CharacterEdits(tokenizer.alphabet, tokenizer.spelling, convolution.table, vocabulary)


def _token_gradients(gradients: WordGradients, space: EditSpace) -> Iterator[TokenGradients]:
    tokens = [(token,) for token in gradients.token_ids.tolist()]
    for positions, words, rows in gradients.texts():
        yield TokenGradients(space, positions, words, tokens[rows], gradients.gradient[rows])


def _vector_gradients(gradients: WordGradients, space: EditSpace) -> Iterator[VectorGradients]:
    vectors = gradients.vectors
    for positions, words, rows in gradients.texts():
        yield VectorGradients(space, positions, words, vectors[rows], gradients.gradient[rows])
