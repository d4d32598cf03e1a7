"""The best edits of texts, for a network that reads words, spellings or both.

This file needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from brittle.moves import EditSpace, Moves
from brittle.ranking.characters import CharacterEdits, EditedWords
from brittle.ranking.subwords import SubwordEdits, TokenGradients
from brittle.ranking.words import WordSwaps
from brittle.zoo.gradients import GradientPasses, WordGradients
from brittle.zoo.tokenizers.characters import CharacterTokenizer
from brittle.zoo.tokenizers.words import UNKNOWN, WordTokenizer

WORDS_PER_PASS = 1 << 12  # words of the dictionary that are spelt out at once


class EditRanking:
    """Ranks edits beside the model; `dictionary` are the words it knows."""

    def __init__(
        self, passing: GradientPasses, vocabulary: WordTokenizer, dictionary: Sequence[str]
    ) -> None:
        self.passing, self.vocabulary, self.dictionary = passing, vocabulary, dictionary

    def best(self, seen: WordGradients, space: EditSpace) -> Sequence[Moves]:
        """Rank the edits of texts at the places that were looked at."""
        if not isinstance(self.passing.reader, CharacterTokenizer):
            return [self._pieces.later(reading) for reading in self._readings(seen, space)]
        if space.level == "words":
            return self._swaps(seen, space)
        return self._edits(seen, space, self.passing.reader)

    def _readings(self, seen: WordGradients, space: EditSpace) -> list[TokenGradients]:
        token = [(n,) for n in seen.numbers.tolist()]
        return [
            TokenGradients(space, positions, words, token[start:stop], seen.gradient[start:stop])
            for positions, words, (start, stop) in zip(seen.positions, seen.words, seen.spans)
        ]

    def _swaps(self, seen: WordGradients, space: EditSpace) -> list[Moves]:
        vector = seen.vectors
        return [
            self._word_swaps.best(
                positions, words, vector[start:stop], seen.gradient[start:stop], space
            )
            for positions, words, (start, stop) in zip(seen.positions, seen.words, seen.spans)
        ]

    def _edits(
        self, seen: WordGradients, space: EditSpace, reader: CharacterTokenizer
    ) -> Sequence[Moves]:
        gradient = seen.characters(reader.spelling)[1]
        embedding = self.passing.network.embedding
        whole = turned = None
        if embedding is not None:
            # The word as a whole turns into the unknown one.
            number, table = seen.numbers, embedding.weight.detach().cpu()
            own = seen.gradient[:, : table.shape[1]]
            own = own.sign() if space.sign else own
            change = table[UNKNOWN] - table[torch.from_numpy(number)]
            whole, turned = (change * own).sum(dim=1).numpy(), number != UNKNOWN
        texts = [
            EditedWords(
                positions,
                [str(word) for word in words],
                None if whole is None else whole[start:stop],
                None if turned is None else turned[start:stop],
            )
            for positions, words, (start, stop) in zip(seen.positions, seen.words, seen.spans)
        ]
        return self._character_edits.best(texts, gradient, space)

    def _spelt_vectors(self, words: Sequence[str]) -> Tensor:
        """Give what the encoder would take for words, whether or not they stand in a text."""
        speller, reader = self.passing.speller, self.passing.reader
        assert speller is not None and isinstance(reader, CharacterTokenizer)
        parts = []
        for start in range(0, len(words), WORDS_PER_PASS):
            some = words[start : start + WORDS_PER_PASS]
            characters = np.zeros((len(some), reader.spelling), dtype=np.int64)
            for row, word in zip(characters, some):
                numbers = reader.character_ids(word)
                row[: len(numbers)] = numbers
            parts.append(speller.read(characters).steps[-1])
        spelt = torch.cat(parts) if parts else speller.filters.new_zeros((0, speller.kernels))
        if self.passing.network.embedding is None:
            return spelt
        table = self.passing.network.embedding.weight.detach().cpu()
        number = torch.tensor([self.vocabulary.token_id(word) for word in words], dtype=torch.long)
        return torch.cat([table[number], spelt], dim=1)

    @cached_property
    def _pieces(self) -> SubwordEdits:
        embedding, number = self.passing.network.embedding, self.vocabulary.token_id
        assert embedding is not None
        ids = [number(word) for word in self.dictionary]
        table = embedding.weight.detach().cpu()
        return SubwordEdits(
            table, self.dictionary, ids, lambda words: [(number(w),) for w in words]
        )

    @cached_property
    def _word_swaps(self) -> WordSwaps:
        return WordSwaps(self.dictionary, self._spelt_vectors)

    @cached_property
    def _character_edits(self) -> CharacterEdits:
        reader, speller = self.passing.reader, self.passing.speller
        assert speller is not None and isinstance(reader, CharacterTokenizer)
        known = frozenset(self.dictionary)
        return CharacterEdits(reader.alphabet, reader.spelling, speller.table, known)
