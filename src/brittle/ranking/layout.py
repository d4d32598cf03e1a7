"""Words laid out character by character, with what may be done to each character.

A word is a row of characters padded with nothing, as HotFlip (Ebrahimi et al., 2018) sees it: an
insertion moves the rest of the word to the right, a deletion moves it to the left.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """The characters of words, one after another: a row each, and one for the place after the last.

    A word that fills all that is read has no row after its last. For every row: its word, its
    place there, the last row of the word, and the characters here, before and after. Of every kind
    of edit, flip, insert and delete, `may` says whether it can be done there, and `changed` how
    many characters it really changes: equal neighbours that move change nothing.
    """

    word: Integers
    position: Integers
    end: Integers
    here: Integers
    before: Integers
    after: Integers
    may: NDArray[np.bool_]
    changed: Integers

    def rest(self, value: NDArray[Any]) -> NDArray[Any]:
        """Sum up what stands after each row in its word."""
        return _rest(value, self.end)


class Layout:
    """Lays words out for a model that reads the first `most` characters of each.

    `numbers` are those of the characters; all others have the number `strange`, and nothing has
    the number `nothing`. A word must stay one word. Since only letters and digits are put in, the
    sole edits that could break it are deletions: of a letter that keeps joiners apart or inside, or
    that a mark belongs to.
    """

    def __init__(self, numbers: dict[str, int], strange: int, nothing: int, most: int) -> None:
        self.most = most
        self._number = np.full(2 + max(map(ord, numbers), default=0), strange)
        self._number[[ord(c) for c in numbers]] = list(numbers.values())
        self._number[ord(END_OF_WORD)] = nothing

    def rows(self, words: Sequence[str]) -> CharacterRows:
        """Lay words out; each is worked out once, however often it comes."""
        distinct = list(dict.fromkeys(words))
        number = dict(zip(distinct, range(len(distinct))))
        which = np.fromiter(map(number.__getitem__, words), dtype=np.int64, count=len(words))
        count, once = self._distinct(distinct)
        first = np.cumsum(count) - count
        word, position = ragged_rows(count[which])
        row = (first[which] - (np.cumsum(count[which]) - count[which]))[word]
        row += np.arange(len(word))
        end = (np.cumsum(count[which]) - 1)[word]
        return CharacterRows(word, position, end, *(part[row] for part in once))

    def _distinct(self, words: Sequence[str]) -> tuple[Integers, tuple[NDArray[Any], ...]]:
        most = self.most
        spelt = [word + END_OF_WORD if len(word) < most else word[:most] for word in words]
        count = np.array([len(row) for row in spelt], dtype=np.int64)
        length = np.array([len(word) for word in words], dtype=np.int64)
        word, position = ragged_rows(count)
        last = np.cumsum(count) - 1
        end = last[word]
        code = _codes(spelt)
        after = np.append(code[1:], 0)
        after[last] = _codes([word[most : most + 1] or END_OF_WORD for word in words])
        before = np.where(position > 0, np.append(0, code[:-1]), code)
        may = self._may(words, count, length, word, code, after)
        here, before, after = (
            self._number[np.minimum(part, len(self._number) - 1)] for part in (code, before, after)
        )
        right, left = before != here, after != here
        one = np.ones_like(here)
        changed = np.stack([one, 1 + _rest(right, end), _rest(left, end) + left], axis=1)
        return count, (here, before, after, may & (changed > 0), changed)

    def _may(
        self,
        words: Sequence[str],
        count: Integers,
        length: Integers,
        word: Integers,
        code: Integers,
        after: Integers,
    ) -> NDArray[np.bool_]:
        rough = [(n, spelt) for n, spelt in enumerate(words) if not spelt.isalnum()]
        sound = np.ones(len(words), dtype=bool)
        sound[[n for n, spelt in rough if words_of(spelt) != [spelt]]] = False
        flip = sound[word] & (code > 0)
        insert = (sound & (length < self.most))[word]
        # Of two equal neighbours either may go, which is one edit.
        delete = flip & (length > 1)[word] & (after != code)
        first = np.cumsum(count) - count
        for n, spelt in rough:
            whole = _whole_without(spelt, self.most)
            delete[first[n] : first[n] + len(whole)] &= whole
        return np.stack([flip, insert, delete], axis=1)


def ragged_rows(count: Integers) -> tuple[Integers, Integers]:
    """Lay rows of several lengths one after another: for each entry its row, and its place there.

    >>> [part.tolist() for part in ragged_rows(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    row = np.repeat(np.arange(len(count)), count)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)


def _rest(value: NDArray[Any], end: Integers) -> NDArray[Any]:
    total: NDArray[Any] = np.cumsum(value)
    rest: NDArray[Any] = total[end] - total
    return rest


def _codes(words: Sequence[str]) -> Integers:
    joined = "".join(words).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4").astype(np.int64)


@lru_cache(maxsize=4096)
def _whole_without(word: str, most: int) -> NDArray[np.bool_]:
    """Say for the first characters of a word whether what is left without each is one word."""
    left = (word[:at] + word[at + 1 :] for at in range(min(len(word), most)))
    return np.array([is_word(rest) for rest in left], dtype=bool)
