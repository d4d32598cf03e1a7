"""Words as their spellings: how a text becomes the numbers a model of characters reads.

Every spelling met gets a row of its own, so that a text is again a row of numbers, and whatever a
model makes of one word it need make only once. Words that the model cannot tell apart (characters
outside its alphabet, letters beyond the last one read) share a row.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from brittle.text import HOLE, Text, Word
from brittle.zoo.tokenizers.words import (
    MAX_CACHED_WORDS,
    PAD,
    SEPARATOR,
    UNKNOWN,
    WordTokenizer,
    encode_texts,
)

UNKNOWN_CHARACTER = 1  # the character that stands for all outside the alphabet; 0 is no character
INITIAL_ROWS = 1024


class CharacterTokenizer:
    """The rows of all spellings met so far; row 0 is padding, row 1 a hole.

    `alphabet` begins after the numbers 0 (no character) and 1 (a strange one). With a vocabulary a
    row also holds the number of the word, for models that read both.
    """

    def __init__(
        self, alphabet: Sequence[str], spelling: int, vocabulary: WordTokenizer, both: bool = False
    ) -> None:
        self.alphabet = tuple(alphabet)
        self.spelling = spelling
        self.vocabulary = vocabulary
        self.both = both
        self.pairs = vocabulary.pairs
        self._character = {c: i for i, c in enumerate(self.alphabet, UNKNOWN_CHARACTER + 1)}
        self._lock = threading.Lock()
        self._rows: dict[bytes, int] = {}
        self._of: dict[Word, int] = {}
        self._characters = np.zeros((INITIAL_ROWS, spelling), dtype=np.int32)
        self._words = np.zeros(INITIAL_ROWS, dtype=np.int32)
        self._count = 1
        self._next = -1
        self._of[HOLE] = self._row(UNKNOWN if both else PAD, (UNKNOWN_CHARACTER,))
        if self.pairs:
            # Between the fields of a pair stands a spelling that no word has.
            self._next = self._row(SEPARATOR if both else PAD, (UNKNOWN_CHARACTER,) * spelling)

    def __len__(self) -> int:
        return self._count

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
        """Encode each text as the int32 rows of its first `reads` words, in order."""
        return encode_texts(texts, reads, self.token_id, self._next)

    def token_id(self, word: Word) -> int:
        """Give the row of a word, a new one for a spelling not met yet."""
        found = self._of.get(word)
        if found is None:
            numbers = self.character_ids(str(word))
            found = self._row(self.vocabulary.token_id(word) if self.both else PAD, numbers)
            if len(self._of) < MAX_CACHED_WORDS:
                self._of[word] = found
        return found

    def character_ids(self, word: str) -> tuple[int, ...]:
        """Give the numbers of a word's characters, as many as are read."""
        character = self._character
        return tuple(character.get(c, UNKNOWN_CHARACTER) for c in word[: self.spelling]) or (
            UNKNOWN_CHARACTER,
        )

    def characters(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the characters of rows, 0 after the end of each."""
        return self._characters[rows].astype(np.int64)

    def words(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the numbers of the words of rows."""
        return self._words[rows].astype(np.int64)

    def _row(self, word: int, numbers: tuple[int, ...]) -> int:
        key = np.array((word, *numbers), dtype=np.int32).tobytes()
        with self._lock:
            found = self._rows.get(key)
            if found is not None:
                return found
            row = self._count
            if row == len(self._words):
                # New arrays, for another thread may be reading the old ones.
                self._characters = np.concatenate(
                    [self._characters, np.zeros_like(self._characters)]
                )
                self._words = np.concatenate([self._words, np.zeros_like(self._words)])
            self._characters[row, : len(numbers)] = numbers
            self._words[row] = word
            self._rows[key] = row
            self._count += 1
            return row
