"""What may stand after a verb, and phrases that are entries of WordNet."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from brittle.english.tags import Tagger
from brittle.english.usage import (
    CLAUSE,
    INFINITIVE,
    INTRANSITIVE,
    LINKING,
    SHIPPED,
    TRANSITIVE,
    Usage,
    kind_after,
    usage,
)
from brittle.text import Text

TABLE = """#frames
help tiv
assist ti
fight ti
brawl i
#n
joint venture
#v
sell off
#r
at risk
"""


def test_a_verb_allows_what_wordnet_knows_after_it() -> None:
    table = Usage.from_table(TABLE)
    assert not table.allows("help", "assist", INFINITIVE)
    assert table.allows("help", "assist", TRANSITIVE)
    assert not table.allows("fight", "brawl", TRANSITIVE)
    # Nothing is known of an unknown verb, nor if the verb itself has no such frame.
    assert table.allows("help", "boost", INFINITIVE)
    assert table.allows("brawl", "assist", CLAUSE)


@pytest.mark.parametrize(
    ("raw", "verb", "kind"),
    [
        ("fans fight the police", "fight", TRANSITIVE),
        ("they fight again and again", "fight", INTRANSITIVE),
        ("the radio helps to end a war", "helps", INFINITIVE),
        ("she said that he was late", "said", CLAUSE),
        ("it seems likely", "seems", LINKING),
        ("the war was ended by them", "ended", TRANSITIVE),
        ("prices soared", "soared", INTRANSITIVE),
        ("a report on rising demand", "rising", ""),
        ("a report on rising demand", "report", ""),
    ],
)
def test_what_stands_after_a_verb(raw: str, verb: str, kind: str) -> None:
    text = Text.of(raw)
    [tags] = Tagger().tags([text])
    words = [str(word) for word in text.words]
    assert kind_after(words, tags, words.index(verb)) == kind


@pytest.mark.parametrize(
    ("raw", "phrase"),
    [
        ("it sells off its shops", "sells off"),
        ("it sells its shops off", "sells off"),
        ("it sells, off and on", ""),
        ("two joint ventures failed", "joint ventures"),
        ("a joint, a venture", ""),
        ("their jobs are at risk now", "at risk"),
    ],
)
def test_phrases_are_found_in_any_form(raw: str, phrase: str) -> None:
    text = Text.of(raw)
    [tags] = Tagger().tags([text])
    found = sorted(Usage.from_table(TABLE).phrase_positions(text, tags))
    assert " ".join(str(text.words[i]) for i in found) == phrase


def test_the_shipped_table_has_frames_and_phrases() -> None:
    assert usage() is usage() and SHIPPED.stat().st_size < 200_000
    assert not usage().allows("help", "assist", INFINITIVE)
    assert not usage().allows("fight", "brawl", TRANSITIVE)


def test_the_script_reads_frames_and_phrases() -> None:
    path = Path(__file__).parents[2] / "scripts" / "build_usage.py"
    spec = importlib.util.spec_from_file_location("build_usage", path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script
    spec.loader.exec_module(script)
    help_, phrase = (
        "01 41 v 02 help 0 aid 0 001 @ 02 v 0000 03 + 02 00 + 08 00 + 28 01",
        "01 41 v 01 sell_off 0 000",
    )
    assert script.frames_of(help_.split()) == {"help": {2, 8, 28}, "aid": {2, 8}}
    assert script.words_of(phrase.split()) == ["sell_off"]
