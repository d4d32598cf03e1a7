"""Text: words, gaps, fields; every edit gives back the exact original around it."""

from __future__ import annotations

import copy
import pickle
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brittle.asks import Answer, Case
from brittle.edits import Edit, characters_changed, diff, patch, words_changed
from brittle.engine.running import Improvement, Outcome
from brittle.text import HOLE, LONG, MAX_SWAPS, SwappedText, Text, Word, is_word, words_of

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


def edited(text: Text, rng: Random) -> Text:
    """Swap, delete and insert a few words at random; words repeat, so that diffs are ambiguous."""
    for _ in range(rng.randint(1, 6)):
        kind, word = rng.choice("sdi"), rng.choice(["a", "b", "NEW", "a-b"])
        if kind == "i" or not len(text):
            text = text.insert(rng.randint(0, len(text)), word)
        elif kind == "s":
            text = text.swap(rng.randrange(len(text)), word)
        else:
            text = text.delete(rng.randrange(len(text)))
    return text


def test_a_patch_is_the_inverse_of_a_diff_after_inserts_and_deletes() -> None:
    rng = Random(0)
    for _ in range(4000):
        fields = {
            name: "".join(rng.choices(["a", "b", "film", " ", ",", "<br/>"], k=rng.randint(0, 9)))
            for name in ("first", "second")
        }
        text = Text.of(fields)
        changed = edited(text, rng)
        edits = diff(text, changed)
        assert patch(fields, edits) == changed.fields(), (fields, changed)
        assert all(fields[e.field][e.start : e.stop] == e.old for e in edits)


@given(ANY, st.randoms(use_true_random=False))
def test_any_text_comes_back_after_inserts_and_deletes(raw: str, rng: Random) -> None:
    text = Text.of(raw)
    changed = edited(text, rng)
    assert patch(text.fields(), diff(text, changed)) == changed.fields()


def test_insertions_at_one_offset_are_applied_in_their_order() -> None:
    edits = [
        Edit("text", 0, 0, "", "so "),
        Edit("text", 0, 0, "", "very "),
        Edit("text", 0, 1, *"ab"),
    ]
    assert patch({"text": "a film"}, edits) == {"text": "so very b film"}


@pytest.mark.parametrize("edit", [Edit("text", 0, 1, "b", "c"), Edit("other", 0, 0, "", "c")])
def test_an_edit_of_another_text_is_refused(edit: Edit) -> None:
    with pytest.raises(ValueError, match="edit expects"):
        patch({"text": "a film"}, [edit])


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


def test_holes_in_other_fields_are_other_keys() -> None:
    first, second = Text.of({"a": "good", "b": ""}), Text.of({"a": "", "b": "good"})
    assert first.mask(0).fields() == second.mask(0).fields()
    assert first.mask(0).key != second.mask(0).key
    assert (
        Text.of({"a": "x y", "b": "z"}).mask(1).key != Text.of({"a": "x ", "b": "y z"}).mask(1).key
    )
    locked = Text.of({"a": "good", "b": "x"}, locked=["a"]).mask(0)
    assert locked.key == Text.of({"a": "good", "b": "y"}, locked=["a"]).mask(0).key


def copies(value: object) -> list[object]:
    pickled = [pickle.loads(pickle.dumps(value, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    return [*pickled, copy.copy(value), copy.deepcopy(value)]


def test_texts_and_holes_can_be_pickled_and_copied() -> None:
    assert all(hole is HOLE for hole in copies(HOLE))
    text = Text.of({"a": "a good film", "b": "yes"}, locked=["b"]).mask(1)
    for twin in copies(text):
        assert isinstance(twin, Text) and twin == text and twin.key == text.key
        assert twin.words[1] is HOLE and twin.fields("?") == text.fields("?")
        assert len(diff(text, twin.swap(0, "the"))) == 1  # the frames are equal, not the same


def test_cases_and_outcomes_can_be_pickled_and_copied() -> None:
    start = Answer(np.array([[0.9, 0.1]]), np.array([0.1]), np.array([False]))
    case = Case("one", Text.of("a good film"), 0, 1, start, read_positions=range(2))
    best = Improvement(4, 0.9, case.text.mask(1), np.array([0.1, 0.9]))
    for twin in copies(Outcome(case, "broken", "", 4, (best,), best)):
        assert isinstance(twin, Outcome) and twin.case.text == case.text
        assert twin.case.start_loss == 0.1 and twin.case.positions == range(2)
        assert twin.best is twin.steps[0] and twin.best.item.words[1] is HOLE


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


def long_texts() -> list[Text]:
    """Long texts of one field, of two, with a locked one, and with holes."""
    rng = Random(5)
    parts = ["warm", "film", "don't", "é", "a", "no", " ", " ", ", ", ".\n", "<br />", " 😀 "]
    one, two = (
        "".join(f"{rng.choice(parts[:6])}{rng.choice(parts[6:])}" for _ in range(LONG))
        for _ in range(2)
    )
    pair = {"first": one, "second": two}
    masked = Text.of(pair)
    words: list[Word] = [HOLE if i % 50 == 0 else w for i, w in enumerate(masked.words)]
    masked = Text(tuple(words), masked.frame)
    return [Text.of(one + " end"), Text.of(pair), Text.of({"raw": one, **pair}, ["raw"]), masked]


@pytest.mark.parametrize("number", range(4))
def test_a_swapped_long_text_is_like_a_copy(number: int) -> None:
    original, rng = long_texts()[number], Random(number)
    text, copied, longest = original, 0, 0
    for _ in range(3 * MAX_SWAPS):
        i, word = rng.randrange(len(text)), rng.choice(["fine", "", "b c", HOLE, original.words[0]])
        text = text.swap(i, word) if rng.random() < 0.9 else text.swaps(i, ["other", word])[1]
        if rng.random() < 0.1:
            text = text.with_words((*text.words[:i], word, *text.words[i + 1 :]))
        assert isinstance(text, SwappedText) and text.words[i] == word
        longest = max(longest, len(text.swapped))
        copied += text.source is not original and len(text.swapped) == 1
        assert_alike(text, Text(text.words, text.frame), original)
    assert copied > 0 and longest == MAX_SWAPS


def assert_alike(text: Text, copy_: Text, original: Text) -> None:
    """Check that a swapped text and a copy of all its words cannot be told apart."""
    assert type(copy_) is Text and text == copy_ and hash(text) == hash(copy_)
    assert (len(text), text.size, text.digest) == (len(copy_), copy_.size, copy_.digest)
    assert text.fields() == copy_.fields() and text.fields("[MASK]") == copy_.fields("[MASK]")
    assert (text.key, str(text)) == (copy_.key, str(copy_))
    assert text.field_words() == copy_.field_words()
    assert diff(original, text) == diff(original, copy_) == plain_diff(original, text)
    assert text.delete(3) == copy_.delete(3) and text.insert(3, "x") == copy_.insert(3, "x")


def plain_diff(original: Text, changed: Text) -> tuple[Edit, ...]:
    """Compare two texts as texts of different frames are, word by word."""
    return diff(original, Text(changed.words, copy.deepcopy(changed.frame)))


def test_a_long_text_is_refused_what_a_short_one_is() -> None:
    for text in (long := Text.of("a " * 300), long.mask(7)):
        for i in (-1, 300):
            with pytest.raises(IndexError, match="outside a text of 300 words"):
                text.swap(i, "c")
            with pytest.raises(IndexError, match="outside a text of 300 words"):
                text.swaps(i, ["c"])
        with pytest.raises(ValueError, match="needs 300 words, got 1"):
            text.with_words(("a",))
        with pytest.raises(AttributeError, match="immutable"):
            text.words = ()


def test_digests_tell_texts_apart() -> None:
    long = Text.of("a b " * 200)
    others: list[Text] = [long, *(long.swap(i, word) for i in (0, 1, 399) for word in ("x", HOLE))]
    others += [long.swap(0, "b").swap(1, "a"), Text.of("a b  " * 200), Text.of({"b": "a b " * 200})]
    assert len({text.digest for text in others}) == len(others)
    assert long.swap(5, "x").swap(5, "b").digest == long.digest
    assert long.swap(5, "x").swap(9, "y").digest == long.swap(9, "y").swap(5, "x").digest
    assert Text.of("a b").digest is None


def test_long_texts_travel_together() -> None:
    long = Text.of(" ".join(f"word{i}" for i in range(1000)))
    masks = [long.mask(i) for i in range(1000)]
    sent = pickle.dumps(masks)
    assert len(sent) < 4 * len(pickle.dumps(long))
    assert pickle.loads(sent) == masks and copy.copy(masks[3]) == masks[3]


FORMS = ["mooP", "don't", "well-known", "a7", "é", "é", "n't", "7", "ª", "²", "Ⅷ", "日本", "a’b"]
NOT = ["", "-a", "a-", "a--b", "a b", "'s", "a.", "̈a", "a_b", "&amp;", "<b>", "😀"]


@pytest.mark.parametrize("form", FORMS + NOT)
def test_a_word_is_what_a_text_is_split_into(form: str) -> None:
    assert is_word(form) is (Text.of(f"x {form} y").words == ("x", form, "y"))
    assert is_word(form) is (form in FORMS)
