"""Lemmas, inflections and capitalisation."""

from __future__ import annotations

import pytest

from brittle.english.forms import as_tagged, inflections, lemmas, match_case, possible_tags
from brittle.text import is_word


@pytest.mark.parametrize(
    ("word", "tag", "expected"),
    [
        ("films", "NNS", ("film",)),
        ("FILMS", "NNS", ("film",)),
        ("lay", "VB", ("lay",)),
        ("lay", "VBD", ("lie",)),
        ("found", "VBD", ("find",)),
        ("leaves", "NNS", ("leave", "leaf")),
        ("better", "JJR", ("good", "well")),
    ],
)
def test_the_tag_decides_the_lemma(word: str, tag: str, expected: tuple[str, ...]) -> None:
    assert lemmas(word, tag) == expected


def test_inflections_are_of_the_dictionary_or_regular() -> None:
    assert inflections("see", "VBN") == ("seen",)
    assert inflections("qwertify", "VBD") == ("qwertified",)
    assert inflections("qwertify", "VB") == ("qwertify",)


def test_unknown_adjectives_are_not_compared_by_rule() -> None:
    assert inflections("good", "JJS") == ("best",)
    assert inflections("beautiful", "JJR") == ()
    assert inflections("rapidly", "RBR") == ()


def test_entries_that_are_no_lemmas_stand_for_themselves() -> None:
    assert as_tagged("spectacles", "NNS") == "spectacles"
    assert as_tagged("spectacles", "NN") is None
    assert as_tagged("film", "NNS") == "films"
    assert as_tagged("Movie", "NN") == "movie"
    assert as_tagged("beautiful", "JJR") is None


def test_possible_tags_are_those_of_the_form() -> None:
    assert {"NN", "VB", "VBP"} <= possible_tags("work")
    assert not {"VBD", "VBZ", "JJ"} & possible_tags("work")
    assert {"VBD", "VBN"} <= possible_tags("Loved")
    assert possible_tags("xqzzk") == frozenset()


@pytest.mark.parametrize(
    ("form", "like", "expected"),
    [
        ("Film", "movie", "film"),
        ("film", "Movie", "Film"),
        ("TV", "Telly", "Tv"),
        ("film", "MOVIE", "FILM"),
        ("one", "I", "One"),
        ("film", "mOvIe", "film"),
        ("film", "McMovie", "film"),
        ("well-made", "Good", "Well-made"),
    ],
)
def test_case_is_taken_over(form: str, like: str, expected: str) -> None:
    assert match_case(form, like) == expected


def test_a_form_with_capitals_can_keep_them() -> None:
    pairs = [("film", "Movie"), ("Film", "MOVIE"), ("TV", "Telly"), ("film", "movie")]
    matched = [match_case(form, like, keep_capitals=True) for form, like in pairs]
    assert matched == ["Film", "Film", "TV", "film"]


def test_one_word_is_the_word_rule_of_texts() -> None:
    assert is_word("well-made") and is_word("o'clock") and is_word("café") and is_word("3d")
    assert not any(map(is_word, ["", "two words", "etc.", "-ly", "...", "a/b", "<br>"]))
