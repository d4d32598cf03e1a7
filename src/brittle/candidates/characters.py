"""Edits of the characters of a word: a class of edits is one function, and all are one proposal.

A person reads nearly the same word; a program reads another one. The first four classes are those
of Boucher et al. (2022): look-alike letters, invisible characters, reordering and backspaces. The
others are tricks that people use against filters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from brittle.levels import LOOK_ALIKE
from brittle.safety.characters import (
    DELETE_LAST,
    PDF,
    RLO,
    SOFT_HYPHEN,
    TAG_SPACE,
    VARIATION_SELECTOR,
    WORD_JOINER,
    ZERO_WIDTH,
    look_alikes,
    swap_in_display,
)
from brittle.text import Text, Word

INVISIBLE, REORDER, BACKSPACE = "invisible", "reorder", "backspace"
LEET = dict(zip("aeiostAEIOST", "431057431057"))
FULL_WIDTH_SHIFT = 0xFEE0
"""The distance in code points from a plain character to its full-width form, from ! to ~."""


def _one_then_all(word: str, other: Mapping[str, str]) -> list[str]:
    """Replace one character, then all, then each of the others alone; the middle one comes first.

    Every character that has several substitutes has all of them.
    """
    sites = [i for i, character in enumerate(word) if other.get(character)]
    if not sites:
        return []
    middle = min(sites, key=lambda i: (abs(2 * i + 1 - len(word)), i))
    whole = "".join(other.get(character, character)[:1] or character for character in word)
    singles = [
        f"{word[:i]}{new}{word[i + 1 :]}"
        for i in (middle, *(i for i in sites if i != middle))
        for new in other[word[i]]
    ]
    return [singles[0], whole, *singles[1:]]


def _look_alike(word: str) -> list[str]:
    return _one_then_all(word, look_alikes())


def _leet(word: str) -> list[str]:
    return _one_then_all(word, LEET)


def _full_width(word: str) -> list[str]:
    wide = {c: chr(ord(c) + FULL_WIDTH_SHIFT) for c in word if "!" <= c <= "~"}
    return _one_then_all(word, wide)


def _inserted(word: str, string: str) -> str:
    """Insert a string in the middle of a word, after its first character at least."""
    middle = max(1, len(word) // 2)
    return f"{word[:middle]}{string}{word[middle:]}"


def _invisible(word: str) -> list[str]:
    first, *others = ZERO_WIDTH
    hidden = (SOFT_HYPHEN, VARIATION_SELECTOR, *others, TAG_SPACE, WORD_JOINER)
    everywhere = first.join(word) if len(word) > 1 else f"{word}{first}"
    return [_inserted(word, first), everywhere, *(_inserted(word, one) for one in hidden)]


def _reorder(word: str) -> list[str]:
    if len(word) < 2:
        return []
    pairs = sorted(range(len(word) - 1), key=lambda i: (abs(2 * i + 2 - len(word)), i))
    singles = [
        f"{word[:i]}{swap_in_display(word[i], word[i + 1])}{word[i + 2 :]}"
        for i in pairs
        if word[i] != word[i + 1]
    ]
    return [*singles[:1], f"{RLO}{word[::-1]}{PDF}", *singles[1:]]


def _backspace(word: str) -> list[str]:
    typed = [f"{key}{DELETE_LAST}" for key in "xe#"]
    return [
        _inserted(word, typed[0]),
        typed[0].join(("", *word)),
        *(_inserted(word, t) for t in typed[1:]),
    ]


def _spacing(word: str) -> list[str]:
    if len(word) < 2:
        return []
    return [_inserted(word, " "), *(mark.join(word) for mark in " .-_")]


def _case(word: str) -> list[str]:
    alternating = "".join(c.upper() if i % 2 else c.lower() for i, c in enumerate(word))
    return [word.upper(), alternating, word.swapcase(), word.lower(), word.title()]


@dataclass(frozen=True)
class CharacterClass:
    """A class of edits: its name, what it does, and the edits of a word, in order."""

    name: str
    about: str
    edit: Callable[[str], list[str]]


CLASSES: Mapping[str, CharacterClass] = {
    one.name: one
    for one in (
        CharacterClass(LOOK_ALIKE, "replace letters by letters that look the same", _look_alike),
        CharacterClass(INVISIBLE, "insert invisible characters", _invisible),
        CharacterClass(REORDER, "store letters in another order than the displayed one", _reorder),
        CharacterClass(BACKSPACE, "insert a character and a backspace", _backspace),
        CharacterClass("spacing", "put spaces between letters", _spacing),
        CharacterClass("case", "change upper and lower case", _case),
        CharacterClass("leet", "letters become digits", _leet),
        CharacterClass("full-width", "replace letters by full-width letters", _full_width),
    )
}
"""The classes by name: the four of Boucher et al. (2022), then the others."""


@dataclass(frozen=True)
class EditedCharacters:
    """Words with edited characters, of one class, in any language.

    The first edit changes one character or one place of the word, the second one all; then come
    other single ones, at most `most` in all.
    """

    name: str
    most: int = 8
    needs_tags: ClassVar[bool] = False

    def prepare(self, words: Iterable[str]) -> None:
        """Do nothing: words are edited one by one."""

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the edits of a word, in order.

        >>> EditedCharacters("spacing").of("ignore", ""), EditedCharacters("leet").of("rhythm", "")
        (('ign ore', 'i g n o r e', 'i.g.n.o.r.e', 'i-g-n-o-r-e', 'i_g_n_o_r_e'), ('rhy7hm',))
        """
        edits = dict.fromkeys(CLASSES[self.name].edit(word) if word else ())
        return tuple(edit for edit in edits if edit != word)[: self.most]

    def everywhere(self, text: Text) -> Text:
        """Edit every word that can be edited, by each of its edits in turn."""
        words: list[Word] = []
        for i, word in enumerate(text.words):
            edits = self.of(word, "") if isinstance(word, str) else ()
            words.append(edits[i % len(edits)] if edits else word)
        return text.with_words(tuple(words))
