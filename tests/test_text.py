"""Text: words, gaps, fields; every edit gives back the exact original around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brittle.edits import characters_changed, diff, patch, words_changed
from brittle.text import HOLE, Text, is_word, words_of

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("Don't stop", ["Don't", "stop"]),
        ("a well-known café", ["a", "well-known", "café"]),
        ("one<br /><br />two", ["one", "two"]),
        ("<script>alert(1)</script>", ["alert", "1"]),
        ("fish &amp; chips", ["fish", "chips"]),
        ("5 < 7 and 9 > 2", ["5", "7", "and", "9", "2"]),
        ("I ❤️ it 👍🏽!", ["I", "it"]),
        ("cafe\u0301 noir", ["cafe\u0301", "noir"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("rock ’n’ roll it’s", ["rock", "n", "roll", "it’s"]),
        ("-dash- 'quoted'", ["dash", "quoted"]),
        ("a\x00b", ["a", "b"]),
        ("", []),
        ("?!… —", []),
    ],
)
def test_words(raw: str, words: list[str]) -> None:
    text = Text.of(raw)
    assert list(text.words) == words == words_of(raw)
    assert text.render() == raw


@given(ANY)
def test_rendering_gives_back_the_original(raw: str) -> None:
    assert Text.of(raw).render() == raw


@given(ANY, st.data())
def test_edits_keep_everything_else(raw: str, data: st.DataObject) -> None:
    text = Text.of(raw)
    if not len(text):
        return
    i = data.draw(st.integers(0, len(text) - 1))
    swapped = text.swap(i, "NEW")
    assert swapped.swap(i, text.words[i]) == text
    for changed in (swapped, text.delete(i), text.insert(i, "NEW"), text.insert(len(text), "NEW")):
        edits = diff(text, changed)
        assert patch(text.fields(), edits) == changed.fields()
        assert text.render() == raw
    assert len(text.delete(i)) == len(text) - 1
    assert "NEW" in text.insert(i, "NEW").words


def test_delete_and_insert_mind_the_spaces() -> None:
    text = Text.of("a good, old film.")
    assert text.delete(1).render() == "a, old film."
    assert text.delete(0).render() == "good, old film."
    assert text.delete(3).render() == "a good, old."
    assert text.insert(1, "very").render() == "a very good, old film."
    assert text.insert(4, "noir").render() == "a good, old film noir."
    assert Text.of("").insert(0, "word").render() == "word"


def test_a_hole_is_not_a_string() -> None:
    text = Text.of("a good film")
    masked = text.mask(1)
    assert masked.words == ("a", HOLE, "film")
    assert masked.render() == "a  film"
    assert masked.render("[MASK]") == "a [MASK] film"
    assert str(masked) == "a ____ film"
    keys = {t.key for t in (text, masked, text.swap(1, ""), text.swap(1, "____"), text.mask(0))}
    assert len(keys) == 5


def test_holes_at_other_places_are_other_keys() -> None:
    assert Text.of("a .X b").mask(1).key != Text.of("a X. b").mask(1).key
    assert Text.of("a b").mask(0).key != Text.of("a b").mask(1).key
    assert Text.of("a b").mask(0).mask(1).key != Text.of("a b").mask(0).key
    assert Text.of("a good b").mask(1).key == Text.of("a bad b").mask(1).key


def test_fields_locked_and_open() -> None:
    pair = Text.of({"premise": "A man sleeps.", "hypothesis": "Nobody is up."}, locked=["premise"])
    assert pair.words == ("Nobody", "is", "up")
    changed = pair.swap(0, "Everybody")
    assert changed.fields() == {"premise": "A man sleeps.", "hypothesis": "Everybody is up."}
    assert changed.render() == "A man sleeps.\nEverybody is up."
    (edit,) = diff(pair, changed)
    assert (edit.field, edit.start, edit.stop, edit.old, edit.new) == (
        "hypothesis",
        0,
        6,
        "Nobody",
        "Everybody",
    )
    assert dict(pair.field_words())["premise"] == ("A", "man", "sleeps")


def test_two_open_fields_number_their_words_through() -> None:
    pair = Text.of({"a": "one two", "b": "three!"})
    assert pair.words == ("one", "two", "three")
    assert pair.swap(2, "four").fields() == {"a": "one two", "b": "four!"}
    assert pair.delete(2).fields() == {"a": "one two", "b": "!"}
    assert Text.of({"a": "onetwo", "b": ""}).key != Text.of({"a": "one", "b": "two"}).key


def test_text_is_immutable_and_says_so() -> None:
    text = Text.of("a b")
    with pytest.raises(AttributeError, match="immutable"):
        text.words = ()
    with pytest.raises(IndexError, match="position 2 is outside a text of 2 words"):
        text.swap(2, "c")
    with pytest.raises(IndexError):
        text.swap(-1, "c")
    with pytest.raises(ValueError, match="needs 2 words"):
        text.with_words(("a",))


def test_counts_of_what_changed() -> None:
    text = Text.of("a good old film")
    edits = diff(text, text.swap(1, "fine").swap(3, "movie"))
    assert words_changed(edits) == 2
    assert characters_changed(edits) == 4 + 5
    assert words_changed(diff(text, text.delete(1))) == 1
    assert diff(text, text) == ()


def test_a_megabyte_is_split_at_once() -> None:
    text = Text.of("word " * 200_000)
    assert len(text) == 200_000
    assert len(Text.of("<a" * 300_000)) == 300_000


def test_the_distance_of_long_stretches_is_found_at_once() -> None:
    long = Text.of("a " + "x" * 500_000)
    assert characters_changed(diff(long, long.swap(1, "x" * 499_990))) == 10
    assert characters_changed(diff(long, long.swap(1, "y" * 5_000))) == 500_000
    assert characters_changed(diff(Text.of("kitten"), Text.of("sitting"))) == 3


FORMS = ["mooP", "don't", "well-known", "a7", "é", "é", "n't", "7", "ª", "²", "Ⅷ", "日本", "a’b"]
NOT = ["", "-a", "a-", "a--b", "a b", "'s", "a.", "̈a", "a_b", "&amp;", "<b>", "😀"]


@pytest.mark.parametrize("form", FORMS + NOT)
def test_a_word_is_what_a_text_is_split_into(form: str) -> None:
    assert is_word(form) is (Text.of(f"x {form} y").words == ("x", form, "y"))
    assert is_word(form) is (form in FORMS)
