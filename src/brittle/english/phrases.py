"""Words that belong together and keep their places: titles, quotations and idioms.

A title is a run of words with capitals ("The Lord of the Rings"), or one that the table of phrases
(phrases.txt) knows, where capitals are missing. The table is a text for people, a phrase a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from brittle.text import Text

SHIPPED = Path(__file__).with_name("phrases.txt")
LONGEST_QUOTATION = 6
LONGEST_TITLE = 7
"""A longer run of words with capitals is a headline."""
MOST_CAPITALS = 0.5
"""In a field where more of the words have capitals, they say nothing."""

_INSIDE = frozenset({"a", "an", "and", "for", "from", "in", "of", "on", "or", "the", "to", "with"})
_QUOTE = re.compile(r"[\"“”«»]|``|''")
_STOP = re.compile(r"[.!?:;]")


def fixed_positions(text: Text) -> frozenset[int]:
    """Return the positions of the words of titles, short quotations and idioms."""
    found: set[int] = set()
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        words = [word if isinstance(word, str) else "" for word in text.words[start:stop]]
        runs = (*_quoted(field.gaps), *_titles(words, field.gaps), *_known(words, field.gaps))
        found.update(start + i for first, end in runs for i in range(first, end))
    return frozenset(found)


def _quoted(gaps: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield short runs of words between two quotation marks."""
    first: int | None = None
    for n, gap in enumerate(gaps):
        marks = len(_QUOTE.findall(gap))
        if first is not None and marks:
            if 0 < n - first <= LONGEST_QUOTATION:
                yield first, n
            first = n if marks > 1 else None
        elif marks % 2:
            first = n


def _titles(words: Sequence[str], gaps: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of words with capitals, with the small words between them.

    A single word with a capital counts, too, unless a sentence begins with it.
    """
    # A word all in capitals is stressed, or an abbreviation, or "I".
    capitals = [word[:1].isupper() and not word.isupper() for word in words]
    if sum(capitals) > MOST_CAPITALS * len(words):
        return
    first = 0
    while first < len(words):
        if not capitals[first]:
            first += 1
            continue
        end = last = first + 1
        while end < len(words) and gaps[end].isspace():
            if capitals[end]:
                last = end + 1
            elif words[end] not in _INSIDE:
                break
            end += 1
        begins = not first or bool(_STOP.search(gaps[first]))
        # Of a run of two at the beginning, the first has its capital from the sentence.
        if last - first <= LONGEST_TITLE and last - first > (2 if begins else 0):
            yield first, last
        elif begins and last - first == 2:
            yield first + 1, last
        first = last


def _known(words: Sequence[str], gaps: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the runs of words that the table knows; nothing but blanks stands between them."""
    lower = [word.lower() for word in words]
    for n, word in enumerate(lower):
        for phrase in phrases().get(word, ()):
            end = n + len(phrase)
            if tuple(lower[n:end]) == phrase and all(gap.isspace() for gap in gaps[n + 1 : end]):
                yield n, end


@cache
def phrases() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Load the table, by the first word of a phrase, once per process."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for line in SHIPPED.read_text("utf-8").splitlines():
        words = () if line.startswith("%") else tuple(line.split())
        if words:
            found[words[0]] = (*found.get(words[0], ()), words)
    return found
