"""Words as their spellings: how a text becomes the ids that a model of characters reads.

Every spelling that is met gets an id, so that a text is again a sequence of ids, and the vector of
a word can be computed once. Words that the model cannot tell apart (characters outside its
alphabet, letters beyond the last one it reads) share an id.

An attack meets new spellings without end, so they are kept in two generations: when the young one
is full it becomes the old one, and the old one is dropped. No id is ever used again, for the keys
of texts are kept elsewhere; a spelling that is met again after that has a new id.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.text import HOLE, Text, Word
from brittle.zoo.tokenizers import (
    MAX_CACHED_WORDS,
    PAD,
    SEPARATOR,
    UNKNOWN,
    WordTokenizer,
    encode_pairs,
    encode_texts,
)

UNKNOWN_CHARACTER = 1  # the id of all characters outside the alphabet; 0 is padding
INITIAL_ROWS = 1024
MAX_SPELLINGS = 1 << 18  # of one generation: at most some 50 MB each


class CharacterTokenizer:
    """The ids of all spellings met so far; 0 is padding, 1 an unknown character alone.

    The characters of `alphabet` have the ids after 0 (padding) and 1 (unknown); `spelling` of a
    word are read. With `both`, for models that also read whole words, words that differ in the
    vocabulary have different ids. As the vocabulary says, a hole reads as an unknown character or
    as padding, and the `sides` of pairs are read apart. `max_spellings` are kept of one generation;
    None, for training, which keeps the ids of all its texts, means no limit.
    """

    def __init__(
        self,
        alphabet: Sequence[str],
        spelling: int,
        vocabulary: WordTokenizer,
        both: bool = False,
        max_spellings: int | None = None,
    ) -> None:
        self.alphabet = tuple(alphabet)
        self.spelling = spelling
        self.vocabulary = vocabulary
        self.both = both
        self.max_spellings = max_spellings
        self.pairs, self.sides = vocabulary.pairs, vocabulary.sides
        self._character = {c: i for i, c in enumerate(self.alphabet, UNKNOWN_CHARACTER + 1)}
        self._lock = threading.Lock()
        self._ids_by_spelling: dict[bytes, int] = {}
        self._ids: dict[Word, int] = {}
        # Row 0 is padding. The spelling of an id stands in the row id − offset.
        self._rows = _Rows(
            0,
            np.zeros((INITIAL_ROWS, spelling), dtype=np.int32),
            np.zeros(INITIAL_ROWS, dtype=np.int32),
        )
        self._count = self._first_young = 1
        self._add_special_ids()

    def __len__(self) -> int:
        """Return the number of spellings ever met, with padding."""
        return self._count

    def _add_special_ids(self) -> None:
        self._separator = -1
        unknown = self._add(UNKNOWN if self.both else PAD, (UNKNOWN_CHARACTER,))
        self._ids[HOLE] = PAD if self.vocabulary.hole_id == PAD else unknown
        if self.pairs:
            # Between the fields of a pair stands a spelling that no word has.
            word_id = SEPARATOR if self.both else PAD
            self._separator = self._add(word_id, (UNKNOWN_CHARACTER,) * self.spelling)

    @staticmethod
    def alphabet_of(texts: Iterable[Text], *, min_count: int = 1) -> list[str]:
        """Collect the characters of the words of texts, the most frequent first."""
        counts = Counter(
            c
            for text in texts
            for _, words in text.field_words()
            for word in words
            for c in str(word)
        )
        known = [c for c, count in counts.items() if count >= min_count]
        return sorted(known, key=lambda c: (-counts[c], c))

    def encode(self, texts: Sequence[Text], reads: int) -> list[bytes]:
        """Encode each text as the int32 ids of its first `reads` words, in order."""
        with self._lock:
            limit = self.max_spellings
            if limit is not None and self._count - self._first_young >= limit:
                self._start_generation()
        if self.sides:
            return encode_pairs(texts, reads, self.token_id)
        return encode_texts(texts, reads, self.token_id, self._separator)

    def token_id(self, word: Word) -> int:
        """Return the id of a word, a new one for a spelling not met yet."""
        ids = self._ids
        token_id = ids.get(word)
        if token_id is None:
            word_id = self.vocabulary.token_id(word) if self.both else PAD
            with self._lock:
                token_id = self._add(word_id, self.character_ids(str(word)))
                if len(self._ids) < MAX_CACHED_WORDS:
                    self._ids[word] = token_id
        return token_id

    def character_ids(self, word: str) -> tuple[int, ...]:
        """Return the ids of a word's characters, as many as are read; an empty word has one."""
        ids = (self._character.get(c, UNKNOWN_CHARACTER) for c in word[: self.spelling])
        return tuple(ids) or (UNKNOWN_CHARACTER,)

    def characters(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the character ids of spellings, 0 after the end of each."""
        rows = self._rows
        return rows.characters[rows.find(ids)].astype(np.int64)

    def words(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids in the vocabulary of spellings; 0 unless both are read."""
        rows = self._rows
        return rows.word_ids[rows.find(ids)].astype(np.int64)

    def _add(self, word_id: int, character_ids: tuple[int, ...]) -> int:
        """Return the id of a spelling, which it gets here if it has none."""
        key = np.array((word_id, *character_ids), dtype=np.int32).tobytes()
        known = self._ids_by_spelling.get(key)
        if known is not None:
            return known
        new, rows = self._count, self._rows
        row = new - rows.offset
        if row == len(rows.word_ids):
            # New arrays, for another thread may be reading the old ones.
            doubled = (np.concatenate([x, np.zeros_like(x)]) for x in rows[1:])
            self._rows = rows = _Rows(rows.offset, *doubled)
        rows.characters[row, : len(character_ids)] = character_ids
        rows.word_ids[row] = word_id
        self._ids_by_spelling[key] = new
        self._count += 1
        return new

    def _start_generation(self) -> None:
        """Drop the old generation; the young one is old from here on.

        Another thread may be reading texts that it has encoded just before: their ids are of the
        generation that is kept.
        """
        rows = self._rows
        kept = slice(self._first_young - rows.offset, self._count - rows.offset)
        self._rows = _Rows(
            self._first_young - 1,
            *(
                np.concatenate([np.zeros_like(x[:1]), x[kept], np.zeros_like(x[:1])])
                for x in rows[1:]
            ),
        )
        self._first_young = self._count
        self._ids_by_spelling, self._ids = {}, {}
        self._add_special_ids()


class _Rows(NamedTuple):
    """The spellings that are kept: the row of an id is id − offset, row 0 is padding."""

    offset: int
    characters: NDArray[np.int32]
    word_ids: NDArray[np.int32]

    def find(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Find the rows of ids."""
        row = np.where(ids == PAD, 0, ids - self.offset)
        if ((row <= 0) & (ids != PAD)).any():
            raise UsageError(
                f"Got {len(ids)} spellings, but some are no longer stored: too many new "
                "ones came since their texts were encoded. Score fewer texts at once."
            )
        return row
