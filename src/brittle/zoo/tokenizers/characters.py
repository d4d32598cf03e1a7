"""Words as their spellings: how a text becomes the ids a model of characters reads.

Every spelling that is met gets an id, so that a text is again a sequence of ids, and the vector of
a word can be computed once. Words that the model cannot tell apart (characters outside its
alphabet, letters beyond the last one it reads) share an id.
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

UNKNOWN_CHARACTER = 1  # the id of all characters outside the alphabet; 0 is padding
INITIAL_ROWS = 1024


class CharacterTokenizer:
    """The ids of all spellings met so far; 0 is padding, 1 a hole.

    The characters of `alphabet` have the ids after 0 (padding) and 1 (unknown); `spelling` of a
    word are read. With `both`, for models that also read whole words, words that differ in the
    vocabulary have different ids.
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
        self._ids_by_spelling: dict[bytes, int] = {}
        self._ids: dict[Word, int] = {}
        self._characters = np.zeros((INITIAL_ROWS, spelling), dtype=np.int32)
        self._word_ids = np.zeros(INITIAL_ROWS, dtype=np.int32)
        self._count = 1
        self._separator = -1
        self._ids[HOLE] = self._add(UNKNOWN if both else PAD, (UNKNOWN_CHARACTER,))
        if self.pairs:
            # Between the fields of a pair stands a spelling that no word has.
            self._separator = self._add(SEPARATOR if both else PAD, (UNKNOWN_CHARACTER,) * spelling)

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
        return encode_texts(texts, reads, self.token_id, self._separator)

    def token_id(self, word: Word) -> int:
        """Return the id of a word, a new one for a spelling not met yet."""
        token_id = self._ids.get(word)
        if token_id is None:
            word_id = self.vocabulary.token_id(word) if self.both else PAD
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
        return self._characters[ids].astype(np.int64)

    def words(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids in the vocabulary of spellings; 0 unless both are read."""
        return self._word_ids[ids].astype(np.int64)

    def _add(self, word_id: int, character_ids: tuple[int, ...]) -> int:
        """Return the id of a spelling, which it gets here if it has none."""
        key = np.array((word_id, *character_ids), dtype=np.int32).tobytes()
        with self._lock:
            known = self._ids_by_spelling.get(key)
            if known is not None:
                return known
            new = self._count
            if new == len(self._word_ids):
                # New arrays, for another thread may be reading the old ones.
                self._characters, self._word_ids = (
                    np.concatenate([array, np.zeros_like(array)])
                    for array in (self._characters, self._word_ids)
                )
            self._characters[new, : len(character_ids)] = character_ids
            self._word_ids[new] = word_id
            self._ids_by_spelling[key] = new
            self._count += 1
            return new
