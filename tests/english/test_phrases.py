"""Titles, quotations and idioms keep their words."""

from __future__ import annotations

import pytest

from brittle.english.names import SHIPPED, fixed_positions
from brittle.text import Text


@pytest.mark.parametrize(
    ("raw", "fixed"),
    [
        ("i loved The Lord of the Rings and its music", "The Lord of the Rings"),
        ("a film by Mary of note", "Mary"),
        ("Great film of note", ""),
        ("Good old John Smith is here again", "Good old John Smith"),
        ("the film was long. Great fun for all of us", ""),
        ("Great Expectations is a film for all of us", "Expectations"),
        ("The Great Gatsby is a film for all of us", "The Great Gatsby"),
        ("NO WORD OF THIS IS A TITLE", ""),
        ('the draw for " love and loss " is plain', "love and loss"),
        ("the draw for “love” is plain", "love"),
        ('he said " one two three four five six seven " to us', ""),
        ('an inch is 1" and no more', ""),
        ("fans of auto focus will like it", "auto focus"),
        ("an auto, focus on it", ""),
        ("it came out of the blue today", "out of the blue"),
    ],
)
def test_fixed_words(raw: str, fixed: str) -> None:
    text = Text.of(raw)
    assert " ".join(str(text.words[i]) for i in sorted(fixed_positions(text))) == fixed


def test_the_table_has_phrases_in_lower_case_once_each() -> None:
    lines = [x for x in SHIPPED.read_text("utf-8").splitlines() if not x.startswith("%")]
    assert len(set(lines)) == len(lines) > 300
    assert all(line == line.lower() and len(line.split()) > 1 for line in lines)
