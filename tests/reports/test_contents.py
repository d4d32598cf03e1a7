"""The table of contents names every section, and the figures leave no hole."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from brittle.reports import render
from brittle.reports.page import MIN_ENTRIES, Section, anchored, render_page
from brittle.reports.success_curves import CurveCard, in_rows

Make = Callable[..., Any]
LINK = re.compile(r'<a href="#([^"]+)">([^<]+)</a>')


def test_every_link_leads_to_its_section(make_run: Make) -> None:
    page = render(make_run(), [Section("run_parts.remark", "x", "Inside & out", "x")])
    links = LINK.findall(page)
    assert [name for _, name in links] == [
        *("Accuracy", "Failures", "How easily it breaks", "How the 8 cases ended"),
        *("What breaks it", "Confusion matrix", "Inside &amp; out", "What the figures rest on"),
        "Settings, seed and command",
    ]
    for anchor, name in links:
        section = re.findall(rf'<section[^>]* id="{anchor}".*?<h2>(.*?)</h2>', page, re.DOTALL)
        section += re.findall(rf'<section id="{anchor}".*?<h2>(.*?)</h2>', page, re.DOTALL)
        assert section[0] == name


def test_data_cannot_add_an_entry(make_run: Make, make_row: Make) -> None:
    evil = "<h2>evil</h2>"
    rows = [make_row(f"{evil} film", {1: evil}, label=evil, predicted=evil)]
    page = render(make_run(rows, name=evil, labels=[evil, "b"], data=evil))
    assert "evil" not in "".join(name for _, name in LINK.findall(page))


def test_a_page_of_two_sections_needs_no_contents() -> None:
    two = anchored([Section("run_parts.remark", "x", name) for name in ("A", "B")])
    frame = {"facts": (), "min_entries": MIN_ENTRIES}
    assert "<nav" not in render_page("run.html.jinja", "t", sections=two, **frame)
    assert "<nav" in render_page("run.html.jinja", "t", sections=[*two, two[0]], **frame)


@pytest.mark.parametrize(
    ("count", "narrow", "wide"), [(2, 0, 2), (3, 3, 0), (4, 0, 4), (5, 3, 2), (1, 1, 0)]
)
def test_no_row_of_figures_has_a_hole(count: int, narrow: int, wide: int) -> None:
    rows = in_rows([CurveCard((), lambda *, width: f"[{width}]")] * count)
    widths = [drawing.svg for row in rows for drawing in row.drawings]
    assert widths == ["[320]"] * narrow + ["[420]"] * wide
    assert [row.css for row in rows] == ["trio"] * bool(narrow) + ["pair"] * bool(wide)


def test_the_result_comes_first_then_warnings_and_then_the_failures(make_run: Make) -> None:
    page = render(make_run(warnings=["Confidence is saturated."]))
    result = page.index("pwws broke 3 of the 5 texts that it attacked.")
    assert result < page.index("Confidence is saturated.") < page.index("<h2>Failures</h2>")
    assert page.index("<h2>Failures</h2>") < page.index("<h2>How easily it breaks</h2>")
    nothing = render(make_run([], warnings=["Confidence is saturated."]))
    assert "No case has finished yet." in nothing and "Confidence is saturated." in nothing
