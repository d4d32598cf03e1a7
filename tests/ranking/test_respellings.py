from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from brittle.moves import CHARACTER_KINDS, Kind
from brittle.ranking.respellings import ALPHABET, LONGEST, edits, spellings, spelt
from brittle.text import words_of


def naive(word: str) -> list[tuple[str, Kind, int]]:
    """Write every edit out by hand, as upper case as the word asks for."""
    upper = word.isupper()
    flips = [
        (word[:at] + (c.upper() if upper or word[at].isupper() else c) + word[at + 1 :], at)
        for at in range(len(word))
        for c in ALPHABET
    ]
    inserts = [
        (word[:at] + (c.upper() if upper else c) + word[at:], at)
        for at in range(len(word) + 1)
        for c in ALPHABET
    ]
    deletes = [(word[:at] + word[at + 1 :], at) for at in range(len(word))]
    kinds = zip(CHARACTER_KINDS, (flips, inserts, deletes))
    return [(new, kind, at) for kind, made in kinds for new, at in made]


@pytest.mark.parametrize("word", ["film", "Good", "BAD", "don't", "well-known", "café", "7", "I"])
def test_every_edit_that_is_a_word_comes_once_and_in_order(word: str) -> None:
    expected = {}
    for new, kind, at in naive(word):
        if new != word and words_of(new) == [new]:
            expected.setdefault(new, (kind, at))
    found = list(spellings(word))
    assert [new for _, new in found] == list(expected)
    assert [n for n, _ in found] == sorted(n for n, _ in found)
    for number, new in found:
        assert spelt(word, number) == (new, *expected[new])


def test_what_is_no_word_is_no_edit() -> None:
    made = {new for _, new in spellings("don't")}
    assert "donut" in made and "dont" in made and "do't" in made
    assert "don'" not in made
    assert not [new for _, new in spellings("a") if not new]


def test_of_a_long_word_the_first_characters_are_edited() -> None:
    word = "ab" * LONGEST
    places = {spelt(word, n)[2] for n, _ in spellings(word)}
    assert max(places) == LONGEST


def test_the_pieces_of_edits_are_summed() -> None:
    asked: list[Sequence[str]] = []

    def read(words: Sequence[str]) -> list[tuple[int, ...]]:
        asked.append(words)
        # Letters before "n" read as they are, the others as one strange piece.
        return [tuple(min(ord(c) - ord("a"), 13) for c in word if c.isalpha()) for word in words]

    found = edits("on", CHARACTER_KINDS, read)
    assert len(asked) == 1
    value = {piece: 10.0**-piece for piece in range(14)}
    sums = found.summed(np.array([value[piece] for piece in found.piece.tolist()]))
    for number, got in zip(found.number.tolist(), sums):
        pieces = read([spelt("on", number)[0]])[0]
        assert got == pytest.approx(sum(value[piece] for piece in pieces))
    # What reads as the word did is left out: "pn", and a digit put in anywhere.
    told = {spelt("on", number)[0] for number in found.number.tolist()}
    assert "an" in told and "o" in told and "on" not in told
    assert not told & {"pn", "on7", "o7n"}
    for kinds in ({"flip"}, {"insert"}, {"delete"}, {"delete", "flip"}, set()):
        some = edits("on", kinds, read)
        own = [n for n in found.number.tolist() if spelt("on", n)[1] in kinds]
        assert some.number.tolist() == own
