"""The best edits of texts, for a network that reads words, spellings or both.

This file needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from brittle.moves import Moves, Space
from brittle.ranking.characters import CharacterEdits, Places
from brittle.ranking.subwords import Pieces, Reading
from brittle.ranking.words import WordSwaps
from brittle.zoo.gradients import Passing, Seen
from brittle.zoo.tokenizers.characters import Spellings
from brittle.zoo.tokenizers.words import UNKNOWN, Vocabulary

SPELT = 1 << 12  # words of the dictionary that are spelt out at once


class Ranking:
    """Ranks edits beside the model; `dictionary` are the words it knows."""

    def __init__(self, passing: Passing, vocabulary: Vocabulary, dictionary: Sequence[str]) -> None:
        self.passing, self.vocabulary, self.dictionary = passing, vocabulary, dictionary

    def best(self, seen: Seen, space: Space) -> Sequence[Moves]:
        """Rank the edits of texts at the places that were looked at."""
        if not isinstance(self.passing.reader, Spellings):
            return [self._pieces.later(reading) for reading in self._readings(seen, space)]
        if space.level == "words":
            return self._swaps(seen, space)
        return self._edits(seen, space, self.passing.reader)

    def _readings(self, seen: Seen, space: Space) -> list[Reading]:
        piece = [(n,) for n in seen.numbers.tolist()]
        return [
            Reading(space, places, words, piece[start:stop], seen.slope[start:stop])
            for places, words, (start, stop) in zip(seen.places, seen.words, seen.spans)
        ]

    def _swaps(self, seen: Seen, space: Space) -> list[Moves]:
        vector = seen.vectors
        return [
            self._word_swaps.best(places, words, vector[start:stop], seen.slope[start:stop], space)
            for places, words, (start, stop) in zip(seen.places, seen.words, seen.spans)
        ]

    def _edits(self, seen: Seen, space: Space, reader: Spellings) -> Sequence[Moves]:
        slope = seen.characters(reader.spelling)[1]
        embedding = self.passing.network.embedding
        whole = turned = None
        if embedding is not None:
            # The word as a whole turns into the unknown one.
            number, table = seen.numbers, embedding.weight.detach().cpu()
            own = seen.slope[:, : table.shape[1]]
            own = own.sign() if space.sign else own
            change = table[UNKNOWN] - table[torch.from_numpy(number)]
            whole, turned = (change * own).sum(dim=1).numpy(), number != UNKNOWN
        texts = [
            Places(
                places,
                [str(word) for word in words],
                None if whole is None else whole[start:stop],
                None if turned is None else turned[start:stop],
            )
            for places, words, (start, stop) in zip(seen.places, seen.words, seen.spans)
        ]
        return self._character_edits.best(texts, slope, space)

    def _spelt_vectors(self, words: Sequence[str]) -> Tensor:
        """Give what the encoder would take for words, whether or not they stand in a text."""
        speller, reader = self.passing.speller, self.passing.reader
        assert speller is not None and isinstance(reader, Spellings)
        parts = []
        for start in range(0, len(words), SPELT):
            some = words[start : start + SPELT]
            characters = np.zeros((len(some), reader.spelling), dtype=np.int64)
            for row, word in zip(characters, some):
                numbers = reader.spelt(word)
                row[: len(numbers)] = numbers
            parts.append(speller.read(characters).steps[-1])
        spelt = torch.cat(parts) if parts else speller.filters.new_zeros((0, speller.kernels))
        if self.passing.network.embedding is None:
            return spelt
        table = self.passing.network.embedding.weight.detach().cpu()
        number = torch.tensor([self.vocabulary.number(word) for word in words], dtype=torch.long)
        return torch.cat([table[number], spelt], dim=1)

    @cached_property
    def _pieces(self) -> Pieces:
        embedding, number = self.passing.network.embedding, self.vocabulary.number
        assert embedding is not None
        ids = [number(word) for word in self.dictionary]
        table = embedding.weight.detach().cpu()
        return Pieces(table, self.dictionary, ids, lambda words: [(number(w),) for w in words])

    @cached_property
    def _word_swaps(self) -> WordSwaps:
        return WordSwaps(self.dictionary, self._spelt_vectors)

    @cached_property
    def _character_edits(self) -> CharacterEdits:
        reader, speller = self.passing.reader, self.passing.speller
        assert speller is not None and isinstance(reader, Spellings)
        known = frozenset(self.dictionary)
        return CharacterEdits(reader.alphabet, reader.spelling, speller.table, known)
