"""Characters that hide a text from a program, and the defence that undoes them.

The look-alikes are the groups of Unicode's intentional list (`look_alikes.txt`): characters that
are drawn alike on purpose. `plain` is what a filter can do before it reads a text; it knows more of
them (`confusables.txt`). scripts/build_look_alikes.py writes both tables.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import regex

LOOK_ALIKES, CONFUSABLES = (
    Path(__file__).with_name(name) for name in ("look_alikes.txt", "confusables.txt")
)

ZERO_WIDTH = ("\u200b", "\u200c", "\u200d")
"""The zero-width space and both joiners: the invisible characters of Boucher et al. (2022)."""
SOFT_HYPHEN, WORD_JOINER, VARIATION_SELECTOR, TAG_SPACE = "\u00ad", "\u2060", "\ufe00", "\U000e0020"
LRE, RLE, PDF, LRO, RLO = "\u202a", "\u202b", "\u202c", "\u202d", "\u202e"
LRI, RLI, FSI, PDI = "\u2066", "\u2067", "\u2068", "\u2069"
DELETE_LAST = "\b"


@cache
def look_alikes() -> Mapping[str, str]:
    """Return for every character the ones that look the same, by code point.

    >>> [f"U+{ord(other):04X}" for other in look_alikes()["a"]], "$" in look_alikes()
    (['U+0430'], False)
    """
    groups = _load(LOOK_ALIKES)
    return {one: group.replace(one, "") for group in groups for one in group}


def _load(path: Path) -> list[str]:
    lines = path.read_text("utf-8").splitlines()
    return ["".join(chr(int(code, 16)) for code in line.split()) for line in lines[1:]]


def swap_in_display(first: str, second: str) -> str:
    """Write two strings so that they are stored in one order, and displayed in the other.

    The controls are those of Boucher et al. (2022): overrides that are isolated from their
    surroundings. `first` is what a reader sees first.
    """
    return f"{LRO}{LRI}{RLO}{LRI}{second}{PDI}{LRI}{first}{PDI}{PDF}{PDI}{PDF}"


_OPENING, _CLOSING = (LRE, RLE, LRO, RLO, LRI, RLI, FSI), (PDF, PDI)
_INVISIBLE = regex.compile(
    r"\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}|[\p{Cc}--[\n\t\r]]", regex.V1
)
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_LATIN, _FOREIGN = regex.compile(r"\p{Latin}"), regex.compile(r"[\p{L}--\p{Latin}]", regex.V1)
_SPACED = regex.compile(r"(?<![\p{L}\p{N}])\p{L}(?:([ .\-_*])\p{L}(?:\1\p{L})+)(?![\p{L}\p{N}])")
"""Three single letters or more, with the same mark between each two."""


def plain(string: str) -> str:
    """Write a text as it is meant: as displayed, in plain letters, and without hidden characters.

    Overrides of the direction are resolved, backspaces delete what stands before them, invisible
    characters are dropped, compatibility forms become plain ones (NFKC), look-alikes become Latin
    letters in words that are Latin then, and spaced letters are joined.

    >>> plain("m\u0435ss \u202erongi\u202ce i\u200bt no\bow, i g n o r e \uff49\uff54")
    'mess ignore it now, ignore it'
    """
    if string.isascii() and DELETE_LAST not in string:
        return str(_SPACED.sub(_joined, string))
    string = _typed(_displayed(string))
    string = unicodedata.normalize("NFKC", _INVISIBLE.sub("", string))
    return str(_SPACED.sub(_joined, _WORD.sub(_folded, string)))


def _joined(match: regex.Match[str]) -> str:
    return str(match.group()).replace(match.group(1), "")


def _typed(string: str) -> str:
    """Delete what a backspace deletes."""
    if DELETE_LAST not in string:
        return string
    kept: list[str] = []
    for character in string:
        if character != DELETE_LAST:
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)


def _displayed(string: str) -> str:
    """Put the characters in the order of their display; inside of overrides only.

    What stands in an override from right to left is displayed backwards, each isolated or embedded
    part as one. The natural direction of letters is left alone.
    """
    if RLO not in string:
        return string
    open_parts: list[tuple[str, list[str]]] = [("", [])]
    for character in string:
        if character in _OPENING:
            open_parts.append((character, []))
        elif character in _CLOSING and len(open_parts) > 1:
            _close(open_parts)
        else:
            open_parts[-1][1].append(character)
    while len(open_parts) > 1:
        _close(open_parts)
    return "".join(open_parts[0][1])


def _close(open_parts: list[tuple[str, list[str]]]) -> None:
    direction, parts = open_parts.pop()
    open_parts[-1][1].append("".join(parts[::-1] if direction == RLO else parts))


@cache
def _plain_letters() -> Mapping[int, str]:
    """Return the ASCII letter of every letter of another script that may be mistaken for it."""
    intentional = [group for group in _load(LOOK_ALIKES) if group[0].isascii()]
    rows = [*_load(CONFUSABLES), *(group for group in intentional if group[0].isalpha())]
    return {ord(other): row[0] for row in rows for other in row[1:]}


def _folded(match: regex.Match[str]) -> str:
    """Fold the look-alikes of a word, unless it is a word of another script."""
    word = str(match.group())
    folded = word.translate(_plain_letters())
    is_latin = _LATIN.search(word) or not _FOREIGN.search(folded)
    return folded if is_latin else word
