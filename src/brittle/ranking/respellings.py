"""Every edit of one character of a word, and the pieces a model reads it as.

An edit puts a letter or a digit in the place of a character, puts one in before it, or takes the
character away. Edits are numbers that are spelt out on demand: first the flips, then the inserts,
then the deletes, each from the word's first character to its last and in the alphabet's order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, digits

import numpy as np
from numpy.typing import NDArray

from brittle.moves import CHARACTER_KINDS, Kind
from brittle.text import words_of

ALPHABET = ascii_lowercase + digits
LONGEST = 64  # characters of a word that are edited: of a longer one (a hash, a cry) the first

PiecesOf = Callable[[Sequence[str]], Sequence[Sequence[int]]]


@dataclass(frozen=True, eq=False, slots=True)
class Edits:
    """The edits of one word that a model can tell from it, as `number`s, in order.

    `piece` lists the distinct pieces they read as: the piece `piece[which[i]]` stands in the edit
    `edit[i]`, an index into `number`.
    """

    number: NDArray[np.int32]
    piece: NDArray[np.int64]
    which: NDArray[np.int32]
    edit: NDArray[np.int32]

    def summed(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum for every edit what its pieces are worth; `value` has a number for each `piece`."""
        return np.bincount(self.edit, value[self.which], len(self.number)).astype(np.float64)


def edits(word: str, kinds: Collection[Kind], pieces_of: PiecesOf) -> Edits:
    """Find the edits of a word and what each reads as, all new words in one call."""
    found = list(spellings(word, kinds))
    mine, *others = pieces_of([word, *(new for _, new in found)])
    read = [(n, pieces) for (n, _), pieces in zip(found, others) if tuple(pieces) != tuple(mine)]
    flat = np.array([piece for _, pieces in read for piece in pieces], dtype=np.int64)
    piece, which = np.unique(flat, return_inverse=True)
    return Edits(
        np.array([n for n, _ in read], dtype=np.int32),
        piece,
        which.astype(np.int32),
        np.repeat(np.arange(len(read), dtype=np.int32), [len(pieces) for _, pieces in read]),
    )


def spellings(word: str, kinds: Collection[Kind] = CHARACTER_KINDS) -> Iterator[tuple[int, str]]:
    """List the edits of a word as numbers and new words, every new word once.

    Only those that are one word of a text, and another one than before, are there.
    """
    seen = {word}
    inserts, deletes, end = _bounds(word)
    spans = zip(CHARACTER_KINDS, (0, inserts, deletes), (inserts, deletes, end))
    for number in (n for kind, start, stop in spans if kind in kinds for n in range(start, stop)):
        new, _, _ = spelt(word, number)
        if new not in seen and words_of(new) == [new]:
            seen.add(new)
            yield number, new


def spelt(word: str, number: int) -> tuple[str, Kind, int]:
    """Give the new word of an edit, its kind, and the character where it happens.

    A letter has the case of the one it replaces; in a word of capitals it is one.

    >>> spelt("Film", 1), spelt("film", 36 * 9 + 3)
    (('Bilm', 'flip', 0), ('fil', 'delete', 3))
    """
    inserts, deletes, _ = _bounds(word)
    if number >= deletes:
        at = number - deletes
        return word[:at] + word[at + 1 :], "delete", at
    at, letter = divmod(number if number < inserts else number - inserts, len(ALPHABET))
    if number >= inserts:
        return word[:at] + _cased(letter, word.isupper()) + word[at:], "insert", at
    new = _cased(letter, word.isupper() or word[at].isupper())
    return word[:at] + new + word[at + 1 :], "flip", at


def _bounds(word: str) -> tuple[int, int, int]:
    """Say where the numbers of the inserts begin, where those of the deletes, and where they end.

    There is an insert before every character, and one behind the last.
    """
    length = min(len(word), LONGEST)
    inserts, deletes = length * len(ALPHABET), (2 * length + 1) * len(ALPHABET)
    return inserts, deletes, deletes + length


def _cased(letter: int, upper: bool) -> str:
    return ALPHABET[letter].upper() if upper else ALPHABET[letter]
