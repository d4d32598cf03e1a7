"""Functions and live objects that translate."""

from __future__ import annotations

from typing import Any

import pytest

from brittle.errors import TargetError, UsageError
from brittle.opening import as_target
from brittle.text import Text

GOOD, BAD = Text.of("a good film"), Text.of("a bad film")


def upper(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


class Whole:
    """A library's translator, which takes a list."""

    def translate(self, texts: list[str]) -> list[str]:
        return upper(texts)


class Single:
    """A library's translator, which takes one text."""

    def translate(self, text: str, direction: str = "en-pt") -> str:
        return text.upper()


class Own:
    """A target of the user's own: it gets texts, not strings."""

    name, fingerprint = "own", "v1"

    def translate(self, items: Any) -> list[str]:
        return [str(item.mask(0)) for item in items]


@pytest.mark.parametrize("target", [upper, Whole(), Single()])
def test_texts_in_texts_out(target: Any) -> None:
    options = {"answers": "text"} if target is upper else {}
    opened = as_target(target, **options)
    assert opened.translate([GOOD, BAD]) == ["A GOOD FILM", "A BAD FILM"]
    assert opened.translate([]) == [] and opened.labels == ()
    assert opened.fingerprint == as_target(target, **options).fingerprint


def test_a_target_of_ones_own_is_returned_as_it_is() -> None:
    own = Own()
    assert as_target(own) is own and own.translate([GOOD]) == ["____ good film"]
    with pytest.raises(UsageError, match="for a translator"):
        as_target(own, labels="a,b")


def test_a_hole_reads_as_told_and_fields_are_dicts() -> None:
    assert as_target(upper, answers="text", mask="[?]").translate([GOOD.mask(1)]) == ["A [?] FILM"]
    pair = Text.of({"premise": "a", "hypothesis": "b"})
    target = as_target(lambda rows: [row["premise"] for row in rows], answers="text")
    assert target.translate([pair]) == ["a"]


def test_what_goes_wrong_fails_as_the_target() -> None:
    with pytest.raises(TargetError, match="raised ZeroDivisionError"):
        as_target(lambda texts: 1 / 0, answers="text").translate([GOOD])
    with pytest.raises(TargetError, match="gave 1 answers for 2 texts"):
        as_target(lambda texts: ["x"], answers="text").translate([GOOD, BAD])
    with pytest.raises(UsageError, match="cannot be called with one argument"):
        as_target(lambda: ["x"], answers="text")
    with pytest.raises(UsageError, match="no labels and no scores"):
        as_target(upper, answers="text", labels="a,b")
    with pytest.raises(UsageError, match=r"Unknown kind of answers 'texts'\. Did you mean 'text'"):
        as_target(upper, answers="texts")


def test_other_answers_are_another_fingerprint() -> None:
    words = {"good": "gut"}

    def look_up(texts: list[str]) -> list[str]:
        return [" ".join(words.get(word, word) for word in text.split()) for text in texts]

    before = as_target(look_up, answers="text").fingerprint
    words["film"] = "Film"
    assert as_target(look_up, answers="text").fingerprint != before


def test_classifiers_refuse_to_answer_texts() -> None:
    sklearn = pytest.importorskip("sklearn.linear_model")
    for target in ("zoo:naive-bayes@mr", sklearn.LogisticRegression()):
        with pytest.raises(UsageError, match="--answers 'text' for a"):
            as_target(target, answers="text")
