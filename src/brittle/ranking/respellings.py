"""Every edit of one character of a word, and the tokens a model reads the new word as.

An edit flips a character to a letter or a digit, inserts one before a character, or deletes a
character. Edits are numbers that are spelt out on demand: first the flips, then the inserts, then
the deletes, each from the word's first character to its last and in the order of the alphabet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, digits

import numpy as np
from numpy.typing import NDArray

from brittle.english.forms import match_case
from brittle.moves import CHARACTER_EDITS, EditKind
from brittle.text import is_word

ALPHABET = ascii_lowercase + digits
MAX_CHARACTERS = 64  # of a word that are edited: the first ones, of a longer word such as a hash

TokensOf = Callable[[Sequence[str]], Sequence[Sequence[int]]]
"""From many words to the tokens of each."""


@dataclass(frozen=True, eq=False, slots=True)
class Respellings:
    """The edits of one word that a model can tell from it and from each other, in order.

    Edits are numbers. `token` lists the distinct tokens of the new words: the token
    token[which[i]] belongs to the new word of number[edit[i]].
    """

    number: NDArray[np.int32]
    token: NDArray[np.int64]
    which: NDArray[np.int32]
    edit: NDArray[np.int32]

    def sum_tokens(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the values of the tokens of every new word; `value` has one for each `token`."""
        return np.bincount(self.edit, value[self.which], len(self.number)).astype(np.float64)


def find_respellings(word: str, kinds: Collection[EditKind], tokens_of: TokensOf) -> Respellings:
    """Find the edits of a word and their tokens, by one call for all new words.

    Of new words that the model reads alike, such as all that it does not know, the first is found.
    """
    edits = list(list_respellings(word, kinds))
    old, *new = tokens_of([word, *(spelt for _, spelt in edits)])
    readings = {tuple(old)}
    differing: list[tuple[int, Sequence[int]]] = []
    for (number, _), tokens in zip(edits, new):
        if tuple(tokens) not in readings:
            readings.add(tuple(tokens))
            differing.append((number, tokens))
    flat = np.array([token for _, tokens in differing for token in tokens], dtype=np.int64)
    token, which = np.unique(flat, return_inverse=True)
    counts = [len(tokens) for _, tokens in differing]
    return Respellings(
        np.array([n for n, _ in differing], dtype=np.int32),
        token,
        which.astype(np.int32),
        np.repeat(np.arange(len(differing), dtype=np.int32), counts),
    )


def list_respellings(
    word: str, kinds: Collection[EditKind] = CHARACTER_EDITS
) -> Iterator[tuple[int, str]]:
    """Yield the edits of a word as numbers and new words, every new word once.

    The new word must be one word of a text, and differ from the old one.
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
    """Return the new word of an edit, its kind, and the index of the character it edits.

    A letter has the case of the character it replaces; in a word of capitals it is a capital.

    >>> spell_out("Film", 1), spell_out("film", 36 * 9 + 3)
    (('Bilm', 'flip', 0), ('fil', 'delete', 3))
    """
    inserts, deletes, _ = _bounds(word)
    if number >= deletes:
        at = number - deletes
        return word[:at] + word[at + 1 :], "delete", at
    is_flip = number < inserts
    at, letter = divmod(number if is_flip else number - inserts, len(ALPHABET))
    replaced = word[at] if is_flip else ""
    new = match_case(ALPHABET[letter], word if word.isupper() else replaced)
    return word[:at] + new + word[at + len(replaced) :], "flip" if is_flip else "insert", at


def _bounds(word: str) -> tuple[int, int, int]:
    """Return the number of the first insert, of the first delete, and the number of all edits.

    A letter may be inserted before every character, and after the last.
    """
    length = min(len(word), MAX_CHARACTERS)
    inserts, deletes = length * len(ALPHABET), (2 * length + 1) * len(ALPHABET)
    return inserts, deletes, deletes + length


NO_RESPELLINGS = find_respellings("", (), lambda words: [()])
