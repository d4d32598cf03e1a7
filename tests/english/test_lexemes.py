"""Lexemes: forms of one word, by dictionary and by ending."""

from __future__ import annotations

import pytest

from brittle.english.forms import lexemes, same_lexeme

SAME = [
    *[("film", "films"), ("saw", "sees"), ("good", "BETTER"), ("is", "were"), ("has", "have")],
    *[
        ("leaf", "leaves"),
        ("leave", "leaves"),
        ("frobbing", "frobbed"),
        ("Film", "film"),
        ("x", "X"),
    ],
]
OTHER = [
    *[("film", "movie"), ("good", "nice"), ("good", "well"), ("good", "food"), ("saw", "sore")],
    *[
        ("beautiful", "beautifully"),
        ("un-do", "do"),
        ("was", "has"),
        ("gpu", "cpu"),
        ("7", "8"),
        ("日本", "本"),
    ],
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_forms_of_one_word(a: str, b: str) -> None:
    assert same_lexeme(a, b) and same_lexeme(b, a)


@pytest.mark.parametrize(("a", "b"), OTHER)
def test_different_words(a: str, b: str) -> None:
    assert not same_lexeme(a, b) and not same_lexeme(b, a)


def test_lemmas_come_with_their_part_of_speech() -> None:
    assert lexemes("saw") == {("NOUN", "saw"), ("VERB", "see"), ("VERB", "saw")}
    assert lexemes("is") == {("VERB", "be")}
    assert lexemes("frobbed") == {("NOUN", "frobbed"), ("VERB", "frob")}
    assert lexemes("7") == lexemes("日本") == set()
