"""Statuses: every one has a whole record, and reports, counts and docs follow it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from rich.style import Style

from brittle.metrics.ladder import ladder
from brittle.metrics.samples import sample_results
from brittle.metrics.summary import is_judged, summary
from brittle.reports.page import STATUS_RULES, asset, style_sheet
from brittle.statuses import (
    ATTACKED,
    STATUSES,
    CountedAs,
    Status,
    StatusRecord,
    Tone,
    statuses_that_count_as,
)

DOCS = Path(__file__).parents[1] / "docs" / "reference" / "figures.md"
ROW = sample_results()[0]


def test_every_status_has_a_record_and_every_record_a_status() -> None:
    assert list(STATUSES) == list(get_args(Status))
    assert all(word == record.word for word, record in STATUSES.items())


@pytest.mark.parametrize("record", STATUSES.values(), ids=list(STATUSES))
def test_a_record_is_complete(record: StatusRecord) -> None:
    for name, hint in get_type_hints(StatusRecord).items():
        value, allowed = getattr(record, name), get_args(hint)
        assert value in allowed if allowed else isinstance(value, hint), name
    assert re.fullmatch(r"[a-z]+( [a-z]+)*", record.word)
    assert len(record.meaning) > 10 and not record.meaning.endswith(".")
    Style.parse(record.style)  # raises if the terminal knows no such style
    assert len({other.meaning for other in STATUSES.values()}) == len(STATUSES)


def test_every_tone_is_a_colour_of_the_style_sheet() -> None:
    assert all(f"--{tone}:" in asset("report.css") for tone in get_args(Tone))
    assert asset("report.css").count(STATUS_RULES) == 1 and STATUS_RULES not in style_sheet()
    assert all(
        f".{record.css_class} {{ --tone: var(--{record.tone}); }}" in style_sheet()
        for record in STATUSES.values()
    )


def test_attacked_statuses_come_first_and_every_status_counts_once() -> None:
    assert tuple(STATUSES)[: len(ATTACKED)] == ATTACKED
    counted = [word for count in get_args(CountedAs) for word in statuses_that_count_as(count)]
    assert sorted(counted) == sorted(STATUSES)
    assert statuses_that_count_as("broken") == ("broken",)


@pytest.mark.parametrize("record", STATUSES.values(), ids=list(STATUSES))
def test_figures_count_a_case_as_its_record_says(record: StatusRecord) -> None:
    row = replace(ROW, status=record.word, levels=(("rewrite", "held"),))
    figures, climbed = summary([row]), ladder([row])
    assert figures.statuses[record.word] == 1 == sum(figures.statuses.values())
    assert figures.success.of == record.is_attacked
    assert is_judged(row) == record.is_judged == bool(figures.before.of)
    assert climbed is not None
    assert climbed.held == (record.counts_as == "standing")
    assert climbed.unfinished == (record.counts_as == "unfinished")


def test_the_docs_have_a_row_for_every_status() -> None:
    table = DOCS.read_text(encoding="utf-8").split("## Rates")[0]
    rows = re.findall(r"^\| `([a-z ]+)` \| .* \| ([^|]+) \| [^|]+ \|$", table, re.MULTILINE)
    assert set(dict(rows)) == set(STATUSES)
    for word, attacked in rows:
        assert (attacked == "yes") == STATUSES[word].is_attacked, word
