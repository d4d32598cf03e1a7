"""Words laid out character by character, with the edits that each character allows.

A word is a sequence of characters padded on the right, as in HotFlip (Ebrahimi et al., 2018): an
insertion moves the rest of the word to the right, a deletion moves it to the left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.text import is_word, words_of

Integers = NDArray[np.int64]
END_OF_WORD = "\0"  # stands after a word, and in none


@dataclass(frozen=True, eq=False)
class CharacterRows:
    """The characters of words, one word after another: a row each, and one for the end of the word.

    A word that is as long as the model reads, or longer, has no row for its end. Every row has the
    index of its `word` and of its `character` there, the `last` row of the word, and the ids of
    three characters: its own, the `previous` and the `next` one. For a flip, an insertion and a
    deletion, `allowed` tells whether the row allows it, and `changes` counts the characters that
    it changes: where equal neighbours move, nothing changes.
    """

    word: Integers
    character: Integers
    last: Integers
    own: Integers
    previous: Integers
    next: Integers
    allowed: NDArray[np.bool_]
    changes: Integers

    def sum_after(self, value: NDArray[Any]) -> NDArray[Any]:
        """Sum the values of the rows that come after each row in its word."""
        return _sum_after(value, self.last)


class Layout:
    """Lays words out for a model that reads the first `max_characters` characters of each.

    `ids` are the ids of known characters. A word must stay one word of a text. Only letters and
    digits are inserted, so only a deletion can break a word: of a letter between two joiners, or
    one that a combining mark belongs to.
    """

    def __init__(
        self, ids: Mapping[str, int], unknown_id: int, padding_id: int, max_characters: int
    ) -> None:
        self.max_characters = max_characters
        # The id of every code point; the last one stands for all code points beyond.
        self._ids = np.full(2 + max(map(ord, ids), default=0), unknown_id)
        self._ids[[ord(c) for c in ids]] = list(ids.values())
        self._ids[ord(END_OF_WORD)] = padding_id

    def rows(self, words: Sequence[str]) -> CharacterRows:
        """Lay words out; a word that comes again is laid out once."""
        index = {word: n for n, word in enumerate(dict.fromkeys(words))}
        which = np.fromiter(map(index.__getitem__, words), dtype=np.int64, count=len(words))
        count, columns = self._distinct_rows(list(index))
        first = np.cumsum(count) - count
        stop = np.cumsum(count[which])
        word, character = ragged_rows(count[which])
        row = first[which][word] + character
        return CharacterRows(word, character, (stop - 1)[word], *(part[row] for part in columns))

    def _distinct_rows(self, words: Sequence[str]) -> tuple[Integers, tuple[NDArray[Any], ...]]:
        """Count the rows of each word, and compute what does not depend on the words around."""
        limit = self.max_characters
        spelt = [word + END_OF_WORD if len(word) < limit else word[:limit] for word in words]
        count = np.array([len(row) for row in spelt], dtype=np.int64)
        word, character = ragged_rows(count)
        last = np.cumsum(count) - 1
        own = _code_points(spelt)
        following = np.append(own[1:], 0)
        following[last] = _code_points([word[limit : limit + 1] or END_OF_WORD for word in words])
        previous = np.where(character > 0, np.append(0, own[:-1]), own)
        allowed = self._allowed(words, count, own, following)
        own, previous, following = (
            self._ids[np.minimum(code, len(self._ids) - 1)] for code in (own, previous, following)
        )
        moved_right, moved_left = previous != own, following != own
        inserted = 1 + _sum_after(moved_right, last[word])
        deleted = moved_left + _sum_after(moved_left, last[word])
        changes = np.stack([np.ones_like(own), inserted, deleted], axis=1)
        return count, (own, previous, following, allowed & (changes > 0), changes)

    def _allowed(
        self, words: Sequence[str], count: Integers, own: Integers, following: Integers
    ) -> NDArray[np.bool_]:
        """Tell for every row whether a flip, an insertion and a deletion leave one word."""
        length = np.array([len(word) for word in words], dtype=np.int64)
        mixed = [(n, word) for n, word in enumerate(words) if not word.isalnum()]
        whole = np.ones(len(words), dtype=bool)
        whole[[n for n, word in mixed if words_of(word) != [word]]] = False
        row = ragged_rows(count)[0]
        flip = whole[row] & (own > 0)
        insert = (whole & (length < self.max_characters))[row]
        # Deleting the first or the second of two equal neighbours is one edit.
        delete = flip & (length > 1)[row] & (following != own)
        first = np.cumsum(count) - count
        for n, word in mixed:
            stays_word = _stays_word(word, self.max_characters)
            delete[first[n] : first[n] + len(stays_word)] &= stays_word
        return np.stack([flip, insert, delete], axis=1)


def ragged_rows(count: Integers) -> tuple[Integers, Integers]:
    """Lay groups of several sizes one after another: for each entry its group, and its index there.

    >>> [part.tolist() for part in ragged_rows(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    group = np.repeat(np.arange(len(count)), count)
    return group, np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)


def _sum_after(value: NDArray[Any], last: Integers) -> NDArray[Any]:
    total: NDArray[Any] = np.cumsum(value)
    after: NDArray[Any] = total[last] - total
    return after


def _code_points(words: Sequence[str]) -> Integers:
    joined = "".join(words).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4").astype(np.int64)


@lru_cache(maxsize=4096)
def _stays_word(word: str, max_characters: int) -> NDArray[np.bool_]:
    """Tell for the first characters of a word whether it is one word without each of them."""
    shorter = (word[:at] + word[at + 1 :] for at in range(min(len(word), max_characters)))
    return np.array([is_word(rest) for rest in shorter], dtype=bool)
