"""Typing errors: one character of a word becomes its neighbour on the keyboard."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import ClassVar

from brittle.english.keyboard import beside
from brittle.english.lexicon import load_lexicon

SHORTEST = 3  # a typing error in a shorter word often makes another word of it


@dataclass(frozen=True)
class KeyTypos:
    """Words with one typing error, in any language.

    A character becomes a key beside it. In scripts that are not on this keyboard, two neighbouring
    characters change places. Inner characters come first, for people read over them most easily;
    the order is drawn once for each word, by the word itself. Errors that make another English word
    are left out, and so are words of fewer than three characters.
    """

    most: int = 8
    needs_tags: ClassVar[bool] = False

    def prepare(self, words: Iterable[str]) -> None:
        """Do nothing: words are looked up one by one."""

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List some typing errors of a word, the least visible first."""
        return typing_errors(word)[: self.most]


@lru_cache(maxsize=1 << 14)
def typing_errors(word: str) -> tuple[str, ...]:
    """List the typing errors of a word, in the order that is drawn for it.

    >>> typing_errors("it"), len(typing_errors("film")), "flim" in typing_errors("film")
    ((), 16, False)
    """
    if len(word) < SHORTEST or not any(map(str.isalpha, word)):
        return ()
    inner, outer = _errors_at(word, range(1, len(word) - 1)), _errors_at(word, (len(word) - 1, 0))
    if not inner and not outer:
        inner = [_exchange(word, i) for i in range(1, len(word) - 1)]
    rng = Random(word)
    rng.shuffle(inner)
    rng.shuffle(outer)
    known = load_lexicon().tags
    errors = dict.fromkeys([*inner, *outer])
    return tuple(e for e in errors if e != word and e.lower() not in known and e not in known)


def _errors_at(word: str, characters: Iterable[int]) -> list[str]:
    return [
        f"{word[:i]}{key}{word[i + 1 :]}"
        for i in characters
        if word[i].isalpha()
        for key in beside(word[i])
        if key.isalpha()
    ]


def _exchange(word: str, i: int) -> str:
    return f"{word[:i]}{word[i + 1]}{word[i]}{word[i + 2 :]}"
