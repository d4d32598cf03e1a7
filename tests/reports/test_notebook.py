"""Runs and studies in notebooks: what is shown first, what is folded, and that all is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np

from brittle.metrics.samples import sample_results
from brittle.picture import Picture
from brittle.reports.notebook import gentlest, study_html, summary_html
from brittle.reports.page import fragment
from brittle.reports.study_page import StudyPage, StudyView
from brittle.reports.table import Cell, Column, Row, Table
from brittle.results import Result
from brittle.studies.study import study_of

MakeRun = Callable[..., Any]
VOID = {"img", "br"}


def climbed() -> list[Result]:
    """Return rows of a run that climbs the ladder; the third case breaks at a gentler level."""
    rows = sample_results()
    levels = {
        "a1": (("careful", "held"), ("any", "broken")),
        "a2": (("careful", "held"), ("any", "broken")),
        "a3": (("careful", "broken"),),
        "a4": (("careful", "held"), ("any", "held")),
    }
    return [replace(row, levels=levels.get(row.case, ()), level=level_of(row)) for row in rows]


def level_of(row: Result) -> str | None:
    return {"a1": "any", "a2": "any", "a3": "careful"}.get(row.case)


class Balance(HTMLParser):
    """Checks that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_html(text: str) -> None:
    parser = Balance()
    parser.feed(text)
    assert not parser.open
    assert "<style" not in text and "<script" not in text and "class=" not in text
    # Every colour is the page's own, or can be read on a light and on a dark one.
    assert not re.search(r'[";]color:', text)


def test_the_ladder_comes_first_then_the_gentlest_cases(make_run: MakeRun) -> None:
    text = summary_html(make_run(climbed(), attack="auto"))
    check_html(text)
    places = [
        text.index(part) for part in ("after careful", "after any", "3 broken cases", "All f")
    ]
    assert places == sorted(places)
    assert text.index(">odd</ins>") < text.index(">comical</ins>"), "careful before any"
    assert "careful synonym · 1 of 4 words changed · 18 queries" in text
    assert "width:" in text and "<table" in text.split("All figures")[1]


def test_a_run_without_a_ladder_shows_its_figures(make_run: MakeRun) -> None:
    text = summary_html(make_run())
    check_html(text)
    assert "All figures" not in text and "attack success" in text and ">comical</ins>" in text


def test_of_many_cases_five_are_shown_and_counted(make_run: MakeRun) -> None:
    rows = [replace(sample_results()[0], case=f"c{n}") for n in range(7)]
    text = summary_html(make_run(rows))
    assert text.count("<ins") == 5 and "5 of 7 broken cases, gentlest first" in text
    assert [row.case for row in gentlest(climbed(), 2)] == ["a3", "a1"]


def test_labels_that_are_numbers_are_quoted(make_run: MakeRun) -> None:
    row = replace(sample_results()[0], label="0", predicted="0", adversarial_label="1")
    text = summary_html(make_run([row]))
    assert re.search(r"&#34;0&#34; \(\d+%\) → &#34;1&#34; \(\d+%\)", text)


def test_a_run_without_broken_cases_or_results(make_run: MakeRun) -> None:
    for rows in ([], [sample_results()[3]]):
        text = summary_html(make_run(rows, examples=5))
        check_html(text)
        assert "<ins" not in text


def test_texts_are_escaped_and_long_ones_are_cut(make_run: MakeRun) -> None:
    row = sample_results()[0]
    evil = "<script>x</script> " * 60
    fields = (("text", f"{evil}warm"),)
    text = summary_html(make_run([replace(row, fields=fields, original=fields[0][1], edits=())]))
    check_html(text)
    assert "&lt;script&gt;" in text and " … " in text and len(text) < 9000


def grid(**changed: Any) -> Any:
    facts = {"pool": "pool:<b>", "data": "mr", "split": "test", "seed": 0, "limit": 9}
    facts |= {"all_right": True, "budget": None, "attacks": (), "settings": {}}
    results: dict[str, Any] = {"targets": (), "cases": (), "scored": 9, "right": {}, "cells": {}}
    return study_of("grid", "mine", **facts, **results, **changed)


def test_a_study_is_a_table_in_notebooks_and_a_line_elsewhere() -> None:
    study = grid(warnings=("<i>read this</i>",))
    text = study._repr_html_()
    check_html(text)
    assert "mine" in text and "<table" in text and "&lt;i&gt;read this" in text
    assert repr(study) == "Study('grid', 'mine')"
    assert isinstance(study.table(), Table)


def test_a_value_that_a_page_switches_is_shown_once() -> None:
    both = fragment("switched.html.jinja", values=["48%", "51%"])
    page = StudyPage("mine", headline=[("rate", both, "of 2 texts"), ("texts", 7, "")])
    text = study_html(StudyView(page, []), "mine", Table([Column("a")], [["b"]]))
    check_html(text)
    assert "48%" in text and "51%" not in text and "<b" in text and "7" in text


def test_a_table_shows_itself() -> None:
    rows = [Row(["all"]), ["<b>", Cell(0.5, "50%", small=["1 of 2"], strong=True, beside="*")]]
    table = Table([Column("name"), Column("share", "right")], rows, notes=["a & b"])
    text = table._repr_html_()
    check_html(text)
    for part in ("&lt;b&gt;", "<b><bdi>50%</bdi></b>", "1 of 2", "*", "a &amp; b"):
        assert part in text
    assert 'colspan="2"' in text


def test_pictures_are_shown_as_images(make_run: MakeRun) -> None:
    pixels = np.zeros((4, 4, 1), dtype=np.float32)
    original, adversary = (Picture(pixels + part).encode() for part in (0.0, 0.5))
    texts: dict[str, Any] = {"original": original, "adversarial": adversary, "edits": ()}
    row = replace(sample_results()[0], **texts, l2=0.5, linf=0.1)
    text = summary_html(make_run([row], kind="picture", shape=[4, 4, 1]))
    check_html(text)
    assert 'alt="original"' in text and 'alt="adversary"' in text
    assert text.count("data:image/png;base64,") == 2
