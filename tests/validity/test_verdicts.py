"""Validity from what people said: counted by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import UsageError
from brittle.metrics import Figure, rate, wilson
from brittle.validity.answers import SampleKey, check_answers, load_answers
from brittle.validity.figures import (
    Floors,
    JudgeFigures,
    OtherFamily,
    Reading,
    Thresholds,
    Validity,
    as_stored,
    restore_floors,
    restore_validity,
)
from brittle.validity.questionnaire import preset
from brittle.validity.sampling import DrawnSample, PageItem, Source, draw_sample
from brittle.validity.verdicts import read_sample

STANDARD = preset("standard")
Write = Callable[..., Path]


@pytest.fixture
def sample(source: Source) -> DrawnSample:
    return draw_sample(source, STANDARD, 40, 2)


@pytest.fixture
def read(
    sample: DrawnSample,
    source: Source,
    keyed: Callable[[DrawnSample], SampleKey],
    answer_file: Write,
) -> Callable[..., Reading]:
    """Return a function that reads the answers of people who answer by functions."""

    def call(*people: Callable[[PageItem], Mapping[str, Any]], **thresholds: int) -> Reading:
        files = [answer_file(sample, answer, n + 1) for n, answer in enumerate(people)]
        rows = {row.case: row for row in source.rows}
        key = keyed(sample)
        checked = check_answers([load_answers(file) for file in files], key, STANDARD)
        return read_sample(checked, key, rows, Thresholds(**thresholds))

    return call


def right(item: PageItem) -> str:
    return ("negative", "positive")[int(item.case, 16) % 2]


def wrong(item: PageItem) -> str:
    return ("positive", "negative")[int(item.case, 16) % 2]


def answers(item: PageItem, **changes: Any) -> dict[str, Any]:
    return {"label": right(item), "natural": 5, "meaning": 5} | changes


def test_all_three_parts_are_needed_and_counted_each(
    read: Callable[..., Reading], sample: DrawnSample
) -> None:
    adversaries = [item.id for item in sample.items if item.panels[0].role == "adversarial"]
    fails = dict(zip(adversaries, ["label"] * 3 + ["meaning"] * 4 + ["natural"] * 5))

    def person(item: PageItem) -> dict[str, Any]:
        worst = {"label": wrong(item), "meaning": 3, "natural": 2}
        failing = fails.get(item.id)
        return answers(item, **({failing: worst[failing]} if failing else {}))

    reading = read(person)
    counts = {part: (figure.count, figure.of) for part, figure in reading.parts.items()}
    assert counts == {
        "label": (27, 30),
        "meaning": (26, 30),
        "natural": (25, 30),
        "valid": (18, 30),
    }
    valid = reading.parts["valid"]
    assert (valid.low, valid.high) == wilson(18, 30)
    assert reading.originals["valid"].count == reading.originals["valid"].of == 10
    assert sum(reading.shares.values()) == 18 and len(reading.shares) == 30


def test_thresholds_decide_what_is_kept(read: Callable[..., Reading]) -> None:
    def person(item: PageItem) -> dict[str, Any]:
        return answers(item, meaning=3, natural=2)

    assert read(person).parts["valid"].value == 0
    assert read(person, meaning=3, natural=2).parts["valid"].value == 1
    assert read(person, meaning=3).parts["meaning"].value == 1
    for bad in ({"meaning": 6}, {"natural": 0}):
        with pytest.raises(UsageError, match="a number from 1 to 5"):
            Thresholds(**bad)


def test_two_people_who_disagree_count_half_each(read: Callable[..., Reading]) -> None:
    reading = read(answers, lambda item: answers(item, meaning=1))
    assert reading.people == 2 and reading.parts["valid"].value == 0.5
    assert set(reading.shares.values()) == {0.5}
    assert reading.agreement["label"].alpha == 1
    assert reading.agreement["meaning"].measure == "ordinal"
    meaning = reading.agreement["meaning"]
    assert meaning.observed == 0 and meaning.alpha is not None and meaning.alpha < 0


def test_cannot_tell_is_not_the_label(read: Callable[..., Reading]) -> None:
    reading = read(lambda item: answers(item, label="cannot tell"))
    assert reading.parts["label"].value == 0 and reading.agreement["label"].items == 0


def test_a_run_made_anew_is_not_what_people_read(
    sample: DrawnSample, source: Source, keyed: Callable[[DrawnSample], SampleKey]
) -> None:
    rows = {row.case: row for row in source.rows}
    case = sample.items[0].case
    key = keyed(sample)
    for changed in ({case: replace(rows[case], adversarial="other")}, None):
        other = {**rows, **changed} if changed else {k: v for k, v in rows.items() if k != case}
        with pytest.raises(UsageError, match=rf"The case {case} changed after people read it"):
            read_sample([], key, other)


def test_valid_success_is_the_product_and_everything_survives_storing(
    read: Callable[..., Reading],
) -> None:
    reading = read(answers, lambda item: answers(item, natural=1))
    success = rate(60, 70, "attacked cases")
    validity = Validity(60, 70, reading)
    valid = validity.valid_success(success)
    assert valid.value == pytest.approx(60 / 70 / 2) and valid.of == 70
    assert valid.low is not None and valid.high is not None
    assert valid.low < valid.value < valid.high < success.value  # type: ignore[operator]
    assert restore_validity(as_stored(validity)) == validity
    figure = Figure(0.4, 0.3, 0.5, None, 60, "judged")
    judge = JudgeFigures("judge", "f", 30, 60, figure, figure, ("demo",), "poststratified", figure)
    both = replace(validity, judge=judge)
    assert restore_validity(as_stored(both)) == both and both.figure == figure
    floors = Floors(figure, figure, OtherFamily("bayes", figure, figure), {"other": "why"})
    assert restore_floors(as_stored(floors)) == floors
    assert restore_validity({}) is None and restore_floors({}) is None
    for damaged in ({"broken": 1}, {"clean_error": 3}):
        with pytest.raises(UsageError, match="Measure it again"):
            restore_validity(damaged)
        with pytest.raises(UsageError, match="Measure it again"):
            restore_floors(damaged)
