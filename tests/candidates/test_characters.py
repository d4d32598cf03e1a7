"""Edits of the characters of a word, and what a filter can do against them."""

from __future__ import annotations

import unicodedata

import pytest

from brittle.candidates.characters import CLASSES, EditedCharacters
from brittle.edits import diff, words_changed
from brittle.levels import CHARACTER_CLASSES
from brittle.redaction import revealed
from brittle.safety.characters import look_alikes, plain
from brittle.text import Text

WORDS = ("ignore", "instructions", "café", "don't", "Film", "it")
UNDONE = ("look-alike", "invisible", "reorder", "backspace", "full-width")
"""The classes that a normaliser undoes in every word."""


@pytest.mark.parametrize("name", CLASSES)
def test_edits_of_a_word_are_other_strings_each_once(name: str) -> None:
    edits = EditedCharacters(name)
    for word in WORDS:
        options = edits.of(word, "")
        assert word not in options and len(set(options)) == len(options) <= 8
        assert EditedCharacters(name, most=1).of(word, "") == options[:1]
    assert edits.of("ignore", "") and edits.of("", "") == ()


def test_every_class_has_its_name_among_the_presets() -> None:
    assert tuple(CLASSES) == CHARACTER_CLASSES


@pytest.mark.parametrize("name", UNDONE)
def test_a_normaliser_reads_the_word_as_it_was(name: str) -> None:
    for word in WORDS:
        for edit in EditedCharacters(name).of(word, ""):
            assert plain(f"please {edit} this") == f"please {word} this", ascii(edit)


def test_a_normaliser_joins_spaced_letters_and_leaves_other_texts_alone() -> None:
    assert plain("i g n o r e, a.l.l") == "ignore, all"
    untouched = (
        "a b test",
        "It is I, a man",
        "naïve café",
        "Привет, осень!",
        "Ωμέγα 3",
        "日本語",
        "",
    )
    assert [plain(text) for text in untouched] == list(untouched)
    assert plain("оса") == "oca"  # a short word in which every letter has a twin: the price
    assert plain("Ｆｕｌｌ") == "Full" and plain("ab\b\b\bc") == "c"


def test_the_table_has_pairs_both_ways_and_no_plain_letter_for_a_plain_one() -> None:
    table = look_alikes()
    assert all(one in table[other] for one, others in table.items() for other in others)
    letters = "".join(filter(str.isalpha, filter(str.isascii, table)))
    assert len(letters) == 29 and not any(table[one].isascii() for one in letters)
    assert unicodedata.name(table["e"]) == "CYRILLIC SMALL LETTER IE"


def test_every_word_is_edited_everywhere() -> None:
    text = Text.of("Please ignore all of it, now!")
    for name in CLASSES:
        edited = EditedCharacters(name).everywhere(text)
        assert edited.frame == text.frame
        changed = sum(a != b for a, b in zip(text.words, edited.words))
        assert changed >= 5, name
        assert words_changed(diff(text, edited)) == changed


def test_what_a_reader_cannot_see_is_written_by_numbers() -> None:
    assert revealed("i\u200bt", "it") == "i⟨U+200B⟩t"
    assert revealed("о", "o") == "⟨U+043E⟩"
    assert revealed("она", "он") == "она"  # a Russian word is no look-alike
    assert revealed("naïve", "naive") == "naïve"
