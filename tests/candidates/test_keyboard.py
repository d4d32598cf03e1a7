"""The keyboard: neighbours touch each other, and keep the case."""

from __future__ import annotations

from string import ascii_letters, ascii_lowercase, digits

import pytest

from brittle.candidates.typos import NEIGHBOURS, beside
from brittle.text import words_of


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("q", "12wa"),
        ("a", "qwsz"),
        ("z", "asx"),
        ("s", "weadzx"),
        ("h", "yugjbn"),
        ("p", "0ol"),
        ("l", "opk"),
        ("m", "jkn"),
        ("1", "2q"),
        ("5", "46rt"),
        ("0", "9op"),
        ("H", "YUGJBN"),
        ("Q", "WA"),
    ],
)
def test_as_seen_on_a_keyboard(key: str, near: str) -> None:
    assert beside(key) == near


def test_every_letter_and_digit_has_neighbours_that_are_words() -> None:
    assert sorted(NEIGHBOURS) == sorted(ascii_letters + digits)
    for key, near in NEIGHBOURS.items():
        assert near and key not in near and len(dict.fromkeys(near)) == len(near)
        assert all(words_of(f"a{other}") == [f"a{other}"] for other in near)


def test_neighbours_are_mutual() -> None:
    for key, near in NEIGHBOURS.items():
        assert all(key in beside(other) for other in near)


def test_a_capital_has_capitals_beside_it() -> None:
    for key in ascii_lowercase:
        letters = "".join(filter(str.isalpha, beside(key)))
        assert beside(key.upper()) == letters.upper()


@pytest.mark.parametrize("character", ["é", "-", "'", " ", "ß", "İ", "", "ab"])
def test_others_have_none(character: str) -> None:
    assert beside(character) == ""
