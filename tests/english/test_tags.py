"""Part-of-speech tags: one for each word, whatever stands in it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.machinery import ModuleSpec

import pytest

from brittle.english import tags
from brittle.english.tags import Tagger, tag_words
from brittle.text import Text

ODD = ["", " ", "a b", "c/d", "\x00", "é", "é", "שלום", "😀", "____", "<b>", "'", "’", "n't", "\n"]

# What an untouched `import textblob` tags, printed by another process: it loads nltk and scipy.
PLAIN = """
import json, sys
from textblob.en import parser
print(json.dumps([[tag for _, tag in parser.find_tags(s)] for s in json.load(sys.stdin)]))
"""
LIGHT = """
import json, sys
from brittle.english.tags import _english
english = _english()
print(json.dumps([[tag for _, tag in english.find_tags(s, english.lexicon)]
                  for s in json.load(sys.stdin)]))
assert not {"nltk", "scipy", "textblob"} & set(sys.modules)
"""


def tags_of(text: str) -> tuple[str, ...]:
    return Tagger().tags([Text.of(text)])[0]


def test_a_sentence_is_tagged() -> None:
    found = tags_of("The movie was quite good, and I loved the actors!")
    assert " ".join(found) == "DT NN VBD RB JJ CC PRP VBD DT NNS"


def test_the_context_decides() -> None:
    assert tags_of("They want to work")[-1] == "VB"
    assert tags_of("the work")[-1] == "NN"


def test_contractions_are_one_word_with_the_tag_of_their_first_part() -> None:
    found = tags_of("it's what we've seen, isn't the film's end bad?")
    assert " ".join(found) == "PRP WP PRP VBN VBZ DT NN NN JJ"
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
    found = tag_words(["the", word, "works", word])
    assert len(found) == 4 and all(found)


def test_the_same_tags_alone_and_in_a_batch() -> None:
    texts = [Text.of("A gloomy film."), Text.of("to work"), Text.of("A gloomy film.")]
    assert Tagger().tags(texts) == [Tagger().tags([text])[0] for text in texts]


def printed(code: str, sentences: list[list[str]]) -> object:
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(sentences),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_textblob_is_loaded_without_its_packages() -> None:
    assert printed(LIGHT, [["a", "gloomy", "film"]]) == [["DT", "JJ", "NN"]]


@pytest.mark.slow
def test_the_light_import_tags_like_the_plain_one() -> None:
    lines = (
        "The movie was a very good one , and I loved the actors ' playing .",
        "gloomily unfilmable zombified 3d 1,000 Hooloovoo well-made n't 's",
    )
    sentences = [line.split() for line in lines] + [[word for word in ODD if word.strip()]]
    assert printed(LIGHT, sentences) == printed(PLAIN, sentences)


def test_another_layout_falls_back_to_the_plain_import(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stand:
        __file__ = "/somewhere/textblob/_text.py"

    asked = []

    def require(module: str, extra: str, purpose: str) -> Stand:
        asked.append((module, extra))
        return Stand()

    elsewhere = ModuleSpec("textblob", None, is_package=True)
    elsewhere.submodule_search_locations = ["/nowhere"]
    monkeypatch.setattr(tags.util, "find_spec", lambda name: elsewhere)
    monkeypatch.setattr(tags, "require", require)
    root, module = tags._textblob()
    assert (str(root), asked) == ("/somewhere/textblob", [("textblob._text", "textblob")])
    assert isinstance(module, Stand)


def test_the_tagger_names_itself() -> None:
    assert Tagger.name == "textblob"
    assert Tagger().fingerprint.startswith("textblob ")
