from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from brittle.moves import CHARACTER_EDITS, EditKind
from brittle.ranking.respellings import (
    ALPHABET,
    MAX_CHARACTERS,
    find_respellings,
    list_respellings,
    spell_out,
)
from brittle.text import words_of


def naive(word: str) -> list[tuple[str, EditKind, int]]:
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
    kinds = zip(CHARACTER_EDITS, (flips, inserts, deletes))
    return [(new, kind, at) for kind, made in kinds for new, at in made]


@pytest.mark.parametrize("word", ["film", "Good", "BAD", "don't", "well-known", "café", "7", "I"])
def test_every_edit_that_is_a_word_comes_once_and_in_order(word: str) -> None:
    expected = {}
    for new, kind, at in naive(word):
        if new != word and words_of(new) == [new]:
            expected.setdefault(new, (kind, at))
    found = list(list_respellings(word))
    assert [new for _, new in found] == list(expected)
    assert [n for n, _ in found] == sorted(n for n, _ in found)
    for number, new in found:
        assert spell_out(word, number) == (new, *expected[new])


def test_what_is_no_word_is_no_edit() -> None:
    made = {new for _, new in list_respellings("don't")}
    assert "donut" in made and "dont" in made and "do't" in made
    assert "don'" not in made
    assert not [new for _, new in list_respellings("a") if not new]


def test_of_a_long_word_the_first_characters_are_edited() -> None:
    word = "ab" * MAX_CHARACTERS
    positions = {spell_out(word, n)[2] for n, _ in list_respellings(word)}
    assert max(positions) == MAX_CHARACTERS


def test_the_tokens_of_edits_are_summed() -> None:
    asked: list[Sequence[str]] = []

    def read(words: Sequence[str]) -> list[tuple[int, ...]]:
        asked.append(words)
        # Letters before "n" read as they are, the others as one strange token.
        return [tuple(min(ord(c) - ord("a"), 13) for c in word if c.isalpha()) for word in words]

    found = find_respellings("on", CHARACTER_EDITS, read)
    assert len(asked) == 1
    value = {token: 10.0**-token for token in range(14)}
    sums = found.sum_tokens(np.array([value[token] for token in found.token.tolist()]))
    for number, got in zip(found.number.tolist(), sums):
        tokens = read([spell_out("on", number)[0]])[0]
        assert got == pytest.approx(sum(value[token] for token in tokens))
    # What reads as the word did is left out: "pn", and a digit put in anywhere.
    spellings = {spell_out("on", number)[0] for number in found.number.tolist()}
    assert "an" in spellings and "0n" in spellings and "on" not in spellings
    assert "o" not in spellings  # it reads as "0n" does
    assert not spellings & {"pn", "on7", "o7n"}
    for kinds in ({"flip"}, {"insert"}, {"delete"}, {"delete", "flip"}, set()):
        some = find_respellings("on", kinds, read)
        first: dict[tuple[int, ...], int] = {}
        for number, new in list_respellings("on", kinds):
            first.setdefault(read([new])[0], number)
        first.pop(read(["on"])[0], None)
        assert some.number.tolist() == sorted(first.values())


def test_of_new_words_that_read_alike_the_first_is_found() -> None:
    known = ["film", "fill", "fil"]

    def read(words: Sequence[str]) -> list[tuple[int, ...]]:
        return [(known.index(word) + 1 if word in known else 0,) for word in words]

    found = find_respellings("film", CHARACTER_EDITS, read)
    assert [spell_out("film", n)[0] for n in found.number.tolist()] == ["ailm", "fill", "fil"]
