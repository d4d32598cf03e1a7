"""Typing errors: by the keys of a keyboard, or from a list of typos that people made.

The keys beside a key: what a finger that misses types instead. Typing errors: one character of a
word becomes its neighbour on the keyboard. Typos that people make: a list of words, each with wrong
spellings of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import ClassVar

from brittle.english.forms import match_case
from brittle.english.tags import load_lexicon
from brittle.errors import MissingPackage, UsageError, install_command
from brittle.text import is_word

_ROWS = (("1234567890", 0.0), ("qwertyuiop", 0.5), ("asdfghjkl", 0.75), ("zxcvbnm", 1.25))
"""The rows of a US keyboard from the top, each with its offset to the right, in keys."""


def _build_table() -> dict[str, str]:
    """List for every key the keys that touch it: in its row, and in the rows above and below."""
    keys = [
        (key, row, shift + column)
        for row, (line, shift) in enumerate(_ROWS)
        for column, key in enumerate(line)
    ]
    return {
        key: "".join(
            other
            for other, y, x in keys
            if (y == row and abs(x - column) == 1) or (abs(y - row) == 1 and abs(x - column) < 1)
        )
        for key, row, column in keys
    }


_PLAIN = _build_table()
NEIGHBOURS: Mapping[str, str] = _PLAIN | {
    # With the shift key letters are capitals, and the top row types marks, which are not in words.
    key.upper(): "".join(filter(str.isalpha, near)).upper()
    for key, near in _PLAIN.items()
    if key.isalpha()
}
"""The neighbours of each letter and digit, from the top left to the bottom right."""


def beside(character: str) -> str:
    """Return the keys beside the key of a character, in its case; "" if it has no key.

    >>> beside("d"), beside("G"), beside("é")
    ('ersfxc', 'TYFHVB', '')
    """
    return NEIGHBOURS.get(character, "")


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


PACKAGE = "nlpaug"
PACKAGE_FILE = Path("res", "word", "spelling", "spelling_en.txt")


@dataclass(frozen=True)
class Typos:
    """Wrong spellings by the right word in lower case."""

    entries: Mapping[str, tuple[str, ...]]

    @staticmethod
    def load(path: str | Path | None = None) -> Typos:
        """Load a file of lines `word typo typo …`; without one, the list of the package nlpaug.

        Entries of a word in several cases are joined. What is not one word (`P?lina`), and what
        differs from the word in case alone, is left out.
        """
        path = Path(path) if path is not None else _package_file()
        try:
            lines = path.read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"The typos in {str(path)!r} cannot be read ({error}). Expected a UTF-8 file with "
                "lines such as 'because becuase becouse'."
            ) from error
        entries: dict[str, dict[str, None]] = {}
        for line in lines:
            word, *forms = line.split() or [""]
            typos = {form: None for form in forms if is_word(form) and _key(form) != _key(word)}
            if typos and is_word(word):
                entries.setdefault(_key(word), {}).update(typos)
        if not entries:
            raise UsageError(
                f"The typos in {str(path)!r} have no line with a word and its typo. "
                "Expected lines such as 'because becuase becouse'."
            )
        return Typos({word: tuple(typos) for word, typos in entries.items()})

    def of(self, word: str) -> tuple[str, ...]:
        """List the typos of a word, written as the word is: Title, UPPER, else in lower case."""
        return tuple(dict.fromkeys(match_case(t, word) for t in self.entries.get(_key(word), ())))


def _key(word: str) -> str:
    return word.lower().replace("’", "'")


def _package_file() -> Path:
    """Find the list without importing the package, which would import much else."""
    spec = find_spec(PACKAGE)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    if not folders:
        raise MissingPackage(
            f"The list of typos comes from the package {PACKAGE!r}, which is not "
            f"installed. Install it with: {install_command('typos')}. Or use a list of "
            "your own: --typos FILE, with lines such as 'because becuase becouse'."
        )
    return Path(folders[0]) / PACKAGE_FILE
