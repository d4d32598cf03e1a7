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

from brittle.moves import CHARACTER_EDITS, EditKind
from brittle.text import is_word

ALPHABET = ascii_lowercase + digits
MAX_CHARACTERS = (
    64  # characters of a word that are edited: of a longer one (a hash, a cry) the first
)

TokensOf = Callable[[Sequence[str]], Sequence[Sequence[int]]]


@dataclass(frozen=True, eq=False, slots=True)
class Respellings:
    """The edits of one word that a model can tell from it, as `number`s, in order.

    `token` lists the distinct pieces they read as: the piece `piece[which[i]]` stands in the edit
    `edit[i]`, an index into `number`.
    """

    number: NDArray[np.int32]
    token: NDArray[np.int64]
    which: NDArray[np.int32]
    edit: NDArray[np.int32]

    def summed(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum for every edit what its pieces are worth; `value` has a number for each `token`."""
        return np.bincount(self.edit, value[self.which], len(self.number)).astype(np.float64)


def respellings(word: str, kinds: Collection[EditKind], tokens_of: TokensOf) -> Respellings:
    """Find the edits of a word and what each reads as, all new words in one call."""
    found = list(list_respellings(word, kinds))
    mine, *others = tokens_of([word, *(new for _, new in found)])
    read = [(n, tokens) for (n, _), tokens in zip(found, others) if tuple(tokens) != tuple(mine)]
    flat = np.array([token for _, tokens in read for token in tokens], dtype=np.int64)
    token, which = np.unique(flat, return_inverse=True)
    return Respellings(
        np.array([n for n, _ in read], dtype=np.int32),
        token,
        which.astype(np.int32),
        np.repeat(np.arange(len(read), dtype=np.int32), [len(tokens) for _, tokens in read]),
    )


def list_respellings(
    word: str, kinds: Collection[EditKind] = CHARACTER_EDITS
) -> Iterator[tuple[int, str]]:
    """List the edits of a word as numbers and new words, every new word once.

    Only those that are one word of a text, and another one than before, are there.
    """
    seen = {word}
    inserts, deletes, end = _bounds(word)
    spans = zip(CHARACTER_EDITS, (0, inserts, deletes), (inserts, deletes, end))
    for number in (n for kind, start, stop in spans if kind in kinds for n in range(start, stop)):
        new, _, _ = spell_out(word, number)
        if new not in seen and is_word(new):
            seen.add(new)
            yield number, new


def spell_out(word: str, number: int) -> tuple[str, EditKind, int]:
    """Give the new word of an edit, its kind, and the character where it happens.

    A letter has the case of the one it replaces; in a word of capitals it is one.

    >>> spell_out("Film", 1), spell_out("film", 36 * 9 + 3)
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
    length = min(len(word), MAX_CHARACTERS)
    inserts, deletes = length * len(ALPHABET), (2 * length + 1) * len(ALPHABET)
    return inserts, deletes, deletes + length


def _cased(letter: int, upper: bool) -> str:
    return ALPHABET[letter].upper() if upper else ALPHABET[letter]
