"""The checks of translations, then on translators that misbehave."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.asks import Case
from brittle.engine.broker import Broker
from brittle.errors import TargetDown
from brittle.opening import as_target
from brittle.targets.capabilities import make_desks
from brittle.targets.diagnosis import diagnose
from brittle.targets.diagnosis.translator import (
    constant,
    copied,
    empty,
    endless,
    unstable,
    unwritable,
)
from brittle.text import Text

SOURCES = [Text.of(text) for text in ("a good film", "a bad film", "Rome 1960", "a plot")]
GOOD = ["ein guter Film", "ein schlechter Film", "Rome 1960", "eine Handlung"]


def codes(function: Any, answers: str = "text", **options: Any) -> list[str]:
    target = as_target(function, answers=answers, name="x", **options)
    broker = Broker(make_desks(target))
    cases = [Case(str(n), text) for n, text in enumerate(SOURCES)]
    try:
        return [warning.code for warning in diagnose(target, cases, broker)]
    finally:
        broker.close()


def test_good_translations_are_not_warned_of() -> None:
    for check in (empty, endless, copied, constant):
        assert check(SOURCES, GOOD) is None
    assert unstable([("a", "a")]) is None and unstable([]) is None


def test_each_check_names_what_it_saw() -> None:
    warning = empty(SOURCES, ["", " ", *GOOD[2:]], "x")
    assert warning is not None and "2 of 4 texts to nothing" in warning.message
    assert empty([Text.of(""), Text.of("…")], ["", ""]) is None
    warning = endless(SOURCES, ["la" * 500, *GOOD[1:]], "x")
    assert warning is not None and "does not stop on 1 of 4" in warning.message
    warning = copied(SOURCES, ["A good  film", "a bad film", "Rome 1960", "eine Handlung"], "x")
    assert warning is not None and "3 of 4 texts back" in warning.message
    assert copied(SOURCES, ["a good film", "a bad film", "Rom 1960", "eine Handlung"]) is None
    warning = constant(SOURCES, ["ja"] * 4, "x")
    assert warning is not None and "all of 4 texts" in warning.message
    assert constant([SOURCES[0]] * 2, ["ja"] * 2) is None
    warning = unstable([("a", "b"), ("c", "c")], "x")
    assert warning is not None and "1 of 2 texts got another translation" in warning.message


def test_translators_that_misbehave() -> None:
    words = dict(zip(map(str, SOURCES), GOOD))
    numbers = count()
    assert codes(lambda texts: [words[text] for text in texts]) == []
    assert codes(lambda texts: ["" for _ in texts]) == ["empty", "constant"]
    assert codes(lambda texts: [f"{text} la" * 1000 for text in texts]) == ["endless"]
    assert codes(lambda texts: texts) == ["copied"]
    assert codes(lambda texts: [f"{text} {next(numbers)}" for text in texts]) == ["random"]


class Speller:
    """A translator that can write small letters only, and says so."""

    name, fingerprint, labels = "speller", "1", ()

    def translate(self, items: Any) -> list[str]:
        return [str(item).lower() for item in items]

    def can_write(self, word: str) -> bool:
        return set(word) <= set("abcdefghijklmnopqrstuvwxyz ")


def test_a_keyword_that_the_target_cannot_spell_is_warned_of() -> None:
    warning = unwritable(Speller(), ["Kunst", "große Kunst", "art", "東京"])
    assert warning is not None and warning.code == "unwritable"
    assert "cannot write 'große Kunst', '東京'" in warning.message
    assert unwritable(Speller(), ["ART", "ja"]) is None and unwritable(Speller(), []) is None
    silent: Any = as_target(lambda texts: texts, answers="text", name="x")
    assert unwritable(silent, ["東京"]) is None


def test_a_run_warns_of_the_keywords_of_its_goal(tmp_path: Path) -> None:
    said: list[str] = []
    options = {
        "goal": "any(keyword:東京; not:keyword:Kunst)",
        "folder": tmp_path,
        "warn": said.append,
    }
    brittle.attack(Speller(), ["a good film", "A BAD PLOT"], "key", budget=3, **options)
    assert [message for message in said if "cannot write '東京':" in message]


def test_one_that_answers_nothing_is_down() -> None:
    with pytest.raises(TargetDown, match=r"failed on all of the first 4 texts.*ZeroDivisionError"):
        codes(lambda texts: 1 / 0)


def test_a_classifier_has_the_checks_of_scores() -> None:
    assert codes(lambda texts: [[0.5, 0.5]] * len(texts), "auto", labels="a,b") == ["constant"]
