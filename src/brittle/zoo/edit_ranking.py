"""The best edits of texts, for a network that reads words, spellings or both.

This file needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from brittle.moves import EditRequest, EditSpace, Moves, ScoredMoves
from brittle.ranking.hotflip_scores import (
    CharacterEdits,
    EditedWords,
    VectorGradients,
    WordSwaps,
    rank_by_vectors,
)
from brittle.ranking.moves import RankedMoves, rank_as_needed, rank_lazily
from brittle.ranking.subwords import SubwordEdits, TokenGradients
from brittle.zoo.fast.character_gradients import CharacterStates
from brittle.zoo.gradients import GradientPasses, WordGradients
from brittle.zoo.spellings import CharacterTokenizer
from brittle.zoo.tokenizers import UNKNOWN, WordTokenizer

WORDS_PER_PASS = 1 << 12  # words whose spellings are read, or edited, at once


@dataclass(frozen=True, eq=False)
class SpellingGradients:
    """The words of one text whose characters are edited, with a gradient along each one's vector.

    Only what a text itself needs: it may be kept for long, and be ranked late or never.
    """

    space: EditSpace
    positions: Sequence[int]
    words: Sequence[str]
    gradient: Tensor


class EditRanking:
    """Ranks the edits of texts by their gradients; `words` are those of the vocabulary."""

    def __init__(
        self, passes: GradientPasses, vocabulary: WordTokenizer, words: Sequence[str]
    ) -> None:
        self.passes, self.vocabulary, self.words = passes, vocabulary, words

    def rank(self, requests: Sequence[EditRequest], space: EditSpace) -> list[ScoredMoves]:
        """Compute the scores and the best edits of texts, all in one space."""
        reads_words = isinstance(self.passes.tokenizer, WordTokenizer)
        by_word = space.level == "words"
        numbers: list[int] = []
        scores: list[list[float]] = []
        texts: list[Any] = []
        for batch, gradients in self.passes.compute(requests):
            numbers += batch
            scores += gradients.scores
            if reads_words:
                texts += _token_gradients(gradients, space)
            else:
                texts += (_vector_gradients if by_word else _spelling_gradients)(gradients, space)
        in_order = [requests[n] for n in numbers]
        if reads_words or by_word:
            rank: Any = self._token_edits.rank if reads_words else self._word_swaps.rank
            moves = rank_as_needed(in_order, scores, texts, rank)
        else:
            moves = rank_lazily(in_order, scores, texts, self._rank_characters)
        answers = dict(zip(numbers, map(ScoredMoves, scores, moves)))
        return [answers[n] for n in range(len(requests))]

    def _rank_characters(self, texts: Sequence[SpellingGradients]) -> list[Moves]:
        """Rank the edits of texts, all in one space, in parts of a bounded number of words."""
        moves: list[Moves] = []
        part: list[SpellingGradients] = []
        count = 0
        for text in texts:
            if part and count + len(text.words) > WORDS_PER_PASS:
                moves += self._rank_spellings(part, part[0].space)
                part, count = [], 0
            part.append(text)
            count += len(text.words)
        return moves + (self._rank_spellings(part, part[0].space) if part else [])

    def _rank_spellings(
        self, texts: Sequence[SpellingGradients], space: EditSpace
    ) -> list[RankedMoves]:
        words = [word for text in texts for word in text.words]
        number = {word: n for n, word in enumerate(dict.fromkeys(words))}
        index = np.array([number[word] for word in words], dtype=np.int64)
        gradient = torch.cat([text.gradient for text in texts])
        states = self._read(list(number))
        size = states.vectors.shape[1]
        # A word's own embedding, if there is one, comes before the vector of its spelling.
        by_character = states.backward(index, gradient[:, -size:], self._tokenizer.spelling)
        unknown_gain = was_known = None
        if self._table is not None:
            # At the same time the word as a whole becomes the unknown one.
            token = self._tokens(list(number))[torch.from_numpy(index)]
            own = gradient[:, : self._table.shape[1]]
            own = own.sign() if space.sign else own
            change = self._table[UNKNOWN] - self._table[token]
            unknown_gain, was_known = (change * own).sum(dim=1).numpy(), (token != UNKNOWN).numpy()
        ends = np.cumsum([len(text.words) for text in texts]).tolist()
        edited = [
            EditedWords(
                text.positions,
                text.words,
                None if unknown_gain is None else unknown_gain[start:end],
                None if was_known is None else was_known[start:end],
            )
            for text, start, end in zip(texts, [0, *ends], ends)
        ]
        moves = self._character_edits.rank(edited, by_character, replace(space, estimate="paper"))
        if space.estimate == "paper":
            return moves
        vector = self._compute_vectors(list(number))[torch.from_numpy(index)]
        direction = gradient.sign() if space.sign else gradient
        return rank_by_vectors(moves, direction, vector, self._compute_vectors)

    def _read(self, words: Sequence[str]) -> CharacterStates:
        """Read spellings, whether or not they stand in a text."""
        convolution, tokenizer = self.passes.character_passes, self._tokenizer
        assert convolution is not None
        characters = np.zeros((len(words), tokenizer.spelling), dtype=np.int64)
        for row, word in zip(characters, words):
            ids = tokenizer.character_ids(word)
            row[: len(ids)] = ids
        return convolution.forward(characters)

    def _compute_vectors(self, words: Sequence[str]) -> Tensor:
        """Compute the encoder's input for words, whether or not they stand in a text."""
        starts = range(0, max(1, len(words)), WORDS_PER_PASS)
        parts = [self._read(words[start : start + WORDS_PER_PASS]).vectors for start in starts]
        spelt = torch.cat(parts)
        if self._table is None:
            return spelt
        return torch.cat([self._table[self._tokens(words)], spelt], dim=1)

    def _tokens(self, words: Sequence[str]) -> Tensor:
        return torch.tensor([self.vocabulary.token_id(word) for word in words], dtype=torch.long)

    @property
    def _tokenizer(self) -> CharacterTokenizer:
        assert isinstance(self.passes.tokenizer, CharacterTokenizer)
        return self.passes.tokenizer

    @cached_property
    def _table(self) -> Tensor | None:
        """The embeddings of whole words, where the network has them."""
        embedding = self.passes.network.embedding
        return None if embedding is None else embedding.weight.detach().cpu()

    @cached_property
    def _token_edits(self) -> SubwordEdits:
        token_id = self.vocabulary.token_id
        assert self._table is not None
        return SubwordEdits(
            self._table,
            self.words,
            [token_id(word) for word in self.words],
            lambda words: [(token_id(word),) for word in words],
        )

    @cached_property
    def _word_swaps(self) -> WordSwaps:
        return WordSwaps(self.words, self._compute_vectors)

    @cached_property
    def _character_edits(self) -> CharacterEdits:
        convolution, tokenizer = self.passes.character_passes, self._tokenizer
        assert convolution is not None
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


def _spelling_gradients(gradients: WordGradients, space: EditSpace) -> Iterator[SpellingGradients]:
    for positions, words, rows in gradients.texts():
        spelt = [str(word) for word in words]
        yield SpellingGradients(space, positions, spelt, gradients.gradient[rows])
