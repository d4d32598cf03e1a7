"""Part-of-speech tags: one for each word, whatever stands in it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from brittle.english.tags import Tagger, tag_words
from brittle.text import Text

ODD = ["", " ", "a b", "c/d", "\x00", "é", "é", "שלום", "😀", "____", "<b>", "'", "’", "n't", "\n"]


def tags_of(text: str) -> tuple[str, ...]:
    return Tagger().tags([Text.of(text)])[0]


def test_a_sentence_is_tagged() -> None:
    tags = tags_of("The movie was quite good, and I loved the actors!")
    assert " ".join(tags) == "DT NN VBD RB JJ CC PRP VBD DT NNS"


def test_the_context_decides() -> None:
    assert tags_of("They want to work")[-1] == "VB"
    assert tags_of("the work")[-1] == "NN"


def test_contractions_are_one_word_with_the_tag_of_their_first_part() -> None:
    tags = tags_of("it's what we've seen, isn't the film's end bad?")
    assert " ".join(tags) == "PRP WP PRP VBN VBZ DT NN NN JJ"
    assert tags_of("the film’s end") == tags_of("the film's end")


def test_every_sentence_begins_anew() -> None:
    assert tags_of("It ended. Gloomily he left")[2] == "RB"
    assert tags_of("It ended<br />Gloomily he left")[2] == "RB"
    assert tags_of("It ended\nGloomily he left")[2] == "RB"
    assert tags_of("It ended Gloomily he left")[2] == "NNP"


def test_shouting_does_not_hide_a_word() -> None:
    assert tags_of("A WONDERFUL story")[1] == "JJ"
    assert tags_of("the USA")[1] == "NNP"


def test_fields_are_tagged_apart_and_locked_ones_not_at_all() -> None:
    pair = {"premise": "A man sleeps", "hypothesis": "Gloomily he left"}
    both, one = Tagger().tags([Text.of(pair), Text.of(pair, locked=["premise"])])
    assert both == tags_of("A man sleeps") + tags_of("Gloomily he left")
    assert one == tags_of("Gloomily he left")


def test_holes_and_empty_texts_have_as_many_tags_as_words() -> None:
    text = Text.of("a good film")
    assert Tagger().tags([text.mask(1), Text.of(""), Text.of("!?")]) == [("DT", "NN", "NN"), (), ()]


@pytest.mark.parametrize("word", ODD)
def test_odd_words_have_one_tag(word: str) -> None:
    assert len(tag_words([word])) == 1
    tags = tag_words(["the", word, "works", word])
    assert len(tags) == 4 and all(tags)


def test_the_same_tags_alone_and_in_a_batch() -> None:
    texts = [Text.of("A gloomy film."), Text.of("to work"), Text.of("A gloomy film.")]
    assert Tagger().tags(texts) == [Tagger().tags([text])[0] for text in texts]


def test_tagging_loads_no_package_of_taggers() -> None:
    code = (
        "import sys; from brittle.english.tags import tag_words\n"
        "print(tag_words(['a', 'gloomy', 'film']))\n"
        "assert not {'nltk', 'scipy', 'textblob'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['DT', 'JJ', 'NN']\n"
