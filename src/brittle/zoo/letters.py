"""Every edit of one character of a word, and the pieces a model reads it as.

An edit puts a letter or a digit in the place of a character, puts one in before it, or takes the
character away. Edits are numbers that are spelt out on demand: first the flips, then the inserts,
then the deletes, each from the word's first character to its last and in the alphabet's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, digits

import numpy as np
from numpy.typing import NDArray

from brittle.moves import Kind
from brittle.text import words_of

ALPHABET = ascii_lowercase + digits
LONGEST = 64  # characters of a word that are edited: of a longer one (a hash, a cry) the first

PiecesOf = Callable[[Sequence[str]], Sequence[Sequence[int]]]


@dataclass(frozen=True, eq=False, slots=True)
class Edits:
    """The edits of one word that a model can tell from it, as `number`s, in order.

    `piece` lists the distinct pieces they read as: the piece `piece[which[i]]` stands in the edit
    `edit[i]`, an index into `number`. `spans` says where the edits of each kind begin and end.
    """

    number: NDArray[np.int64]
    piece: NDArray[np.int64]
    which: NDArray[np.int64]
    edit: NDArray[np.int64]
    spans: dict[Kind, tuple[int, int]]

    def summed(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum for every edit what its pieces are worth; `value` has a number for each `piece`."""
        return np.bincount(self.edit, value[self.which], len(self.number)).astype(np.float64)

    def of(self, kinds: Sequence[Kind]) -> NDArray[np.int64]:
        """Give the indices of the edits of these kinds, in order."""
        spans = [span for kind, span in self.spans.items() if kind in kinds]
        return np.concatenate([np.arange(0), *(np.arange(start, stop) for start, stop in spans)])


def edits(word: str, pieces_of: PiecesOf) -> Edits:
    """Find the edits of a word and what each reads as, all words in one call."""
    found = list(spellings(word))
    mine, *others = pieces_of([word, *(new for _, new in found)])
    read = [(n, pieces) for (n, _), pieces in zip(found, others) if tuple(pieces) != tuple(mine)]
    number = np.array([n for n, _ in read], dtype=np.int64)
    flat = np.array([piece for _, pieces in read for piece in pieces], dtype=np.int64)
    piece, which = np.unique(flat, return_inverse=True)
    edit = np.repeat(np.arange(len(read)), [len(pieces) for _, pieces in read])
    length = min(len(word), LONGEST)
    inserts, deletes = length * len(ALPHABET), _first_delete(word)
    cuts = [0, *np.searchsorted(number, [inserts, deletes]).tolist(), len(number)]
    spans: dict[Kind, tuple[int, int]] = {
        "flip": (cuts[0], cuts[1]),
        "insert": (cuts[1], cuts[2]),
        "delete": (cuts[2], cuts[3]),
    }
    return Edits(number, piece, which, edit, spans)


def spellings(word: str) -> Iterator[tuple[int, str]]:
    """List the edits of a word as numbers and new words, every new word once.

    Only those that are one word of a text, and another one than before, are there.
    """
    seen = {word}
    for number in range(_first_delete(word) + min(len(word), LONGEST)):
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
    length = min(len(word), LONGEST)
    at, letter = divmod(number, len(ALPHABET))
    if at < length:
        new = _cased(letter, word.isupper() or word[at].isupper())
        return word[:at] + new + word[at + 1 :], "flip", at
    if number < _first_delete(word):
        at -= length
        return word[:at] + _cased(letter, word.isupper()) + word[at:], "insert", at
    at = number - _first_delete(word)
    return word[:at] + word[at + 1 :], "delete", at


def _first_delete(word: str) -> int:
    return (2 * min(len(word), LONGEST) + 1) * len(ALPHABET)


def _cased(letter: int, upper: bool) -> str:
    return ALPHABET[letter].upper() if upper else ALPHABET[letter]
