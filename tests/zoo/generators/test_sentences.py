"""Sentences: cut from texts, read as rows of ids, and written again."""

from __future__ import annotations

import pytest

from brittle.text import Text
from brittle.zoo.generators.sentences import (
    SPECIAL,
    SentenceStyle,
    SentenceTokenizer,
    cut_sentences,
    sentence_words,
)
from brittle.zoo.tokenizers import PAD, UNKNOWN

SENTENCES = ["The film is Italian.", "I saw the film.", "Italian wine, I say.", "What a film!"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I went. It rained.", ["I went.", "It rained."]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("Dr. J. Smith came. why not", ["Dr. J. Smith came. why not"]),
        ("Good.<br /><br />Bad\nUgly", ["Good.", "Bad", "Ugly"]),
        ("Version 2.5 is out! 3 people came.", ["Version 2.5 is out!", "3 people came."]),
        ("It cost 5 vs. 6 dollars.", ["It cost 5 vs. 6 dollars."]),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_texts_are_cut_into_sentences(text: str, sentences: list[str]) -> None:
    assert cut_sentences(text) == sentences


def test_nothing_of_a_text_is_lost_by_cutting() -> None:
    text = "Mr. A. went (really?) home. He slept! Why? Nobody knows…  The end."
    words = [word for sentence in cut_sentences(text) for word in sentence_words(sentence)]
    assert words == list(sentence_words(text))


def test_words_have_the_case_that_is_usual_inside_sentences() -> None:
    tokenizer = SentenceTokenizer.of(SENTENCES, reads=5)
    assert {"I", "Italian", "film", "the"} < set(tokenizer.words)  # "Italian" is once inside
    assert tokenizer.style == SentenceStyle(capital=True, closing=".")
    [row] = tokenizer.rows(["the FILM is italian!"]).tolist()
    assert row[4] == PAD and tokenizer.sentence(row) == "The film is Italian."
    assert tokenizer.words[: len(SPECIAL)] == SPECIAL


def test_unknown_words_and_holes_are_one_id_and_rows_are_cut() -> None:
    tokenizer = SentenceTokenizer.of(SENTENCES, reads=3, min_count=2)
    assert "wine" not in tokenizer.words
    assert tokenizer.ids("wine film") == [UNKNOWN, tokenizer.ids("film")[0]]
    assert tokenizer.ids(Text.of("the film").mask(0))[0] == UNKNOWN
    assert tokenizer.rows(["film film film film"]).shape == (1, 3)
    assert SentenceTokenizer.of(SENTENCES, reads=3, cap=2).words[-2:] == ("film", "I")


def test_sentences_are_written_as_those_of_the_data() -> None:
    plain = SentenceTokenizer.of(["a dull film", "the end"], reads=4)
    assert plain.sentence(plain.rows(["The dull end"])[0].tolist()) == "the dull end"
    assert plain.sentence([PAD]) == ""
