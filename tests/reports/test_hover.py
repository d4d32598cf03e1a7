"""Every mark of a figure has its value, and columns of values leave no hole."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from brittle.metrics.curves import CostCurve, Curve, success_by_words
from brittle.metrics.samples import sample_results
from brittle.reports import render
from brittle.reports.axes import MAX_ZONES, PlotArea, hover_zones
from brittle.reports.endings import Ending
from brittle.reports.figures import curve_figure
from brittle.reports.page import draw_part
from brittle.reports.plots import cost_figure

Make = Callable[..., Any]


def columns(svg: str) -> list[tuple[float, float, str]]:
    """Return the left and right end and the value of every column, as they stand."""
    root = ElementTree.fromstring(f"<svg>{svg}</svg>")
    found = []
    for rect in root.iter("rect"):
        if rect.get("class") == "zone":
            left = float(rect.get("x", ""))
            found.append((left, left + float(rect.get("width", "")), rect.findtext("title") or ""))
    return found


@pytest.mark.parametrize("count", [1, 2, 7, MAX_ZONES, MAX_ZONES + 1, 1000])
def test_columns_cover_everything_once(count: int) -> None:
    area = PlotArea((0.0, float(count)))
    zones = [(float(n), n + 1.0, f"value {n}") for n in range(count)]
    drawn = columns(hover_zones(area, zones))
    assert 1 <= len(drawn) <= MAX_ZONES
    assert drawn[0][0] == pytest.approx(area.left, abs=0.1)
    assert drawn[-1][1] == pytest.approx(area.right, abs=0.2)
    for (_, end, _), (start, _, _) in pairwise(drawn):
        assert end == pytest.approx(start, abs=0.11)  # numbers have one decimal
    step = -(-count // MAX_ZONES)
    assert [text for _, _, text in drawn] == [f"value {n}" for n in range(0, count, step)]


def test_no_zones_draw_nothing() -> None:
    assert hover_zones(PlotArea((0.0, 1.0)), []) == ""


def test_a_curve_says_its_value_at_every_cost() -> None:
    values = [
        text for _, _, text in columns(curve_figure(success_by_words(sample_results()), "words"))
    ]
    assert values == [
        "words ≤ 0: 0.0% broken (0.0–43.4%), 0 of 5",
        "words ≤ 1: 40.0% broken (11.8–76.9%), 2 of 5",
        "words ≤ 2: 60.0% broken (23.1–88.2%), 3 of 5",
    ]
    assert columns(curve_figure(Curve((), 0, 0), "words")) == []


def test_costs_say_theirs() -> None:
    figure = cost_figure(CostCurve(((3, 0.5), (9, 0.25)), 4, 20))
    assert [text for _, _, text in columns(figure)] == [
        "3 queries per case: median cost 0.5",
        "9 queries per case: median cost 0.25",
    ]


def test_bars_say_their_share() -> None:
    assert "<title>50.0%</title>" in draw_part("bars.bar", 0.5, "50.0%")
    assert "<title>" not in draw_part("bars.bar", 0.5)
    ends = draw_part("bars.status_bar", [Ending("broken", 3), Ending("held", 1)])
    assert "<title>broken: 3 of 4</title>" in ends


def test_the_page_has_values_for_the_matrix_the_words_and_the_scale(make_run: Make) -> None:
    run = make_run()
    run.rows += [replace(run.rows[0], case="again")]  # "funny" is changed in all its three cases
    page = render(run)
    assert 'title="2 of 3 negative (66.7%) predicted negative">2</td>' in page
    assert "<title>accuracy under attack: 37.5% (13.7–69.4%)</title>" in page
    assert page.count("<title>100.0%</title>") >= 1  # of "funny", changed in both its cases


def test_what_breaks_it_is_drawn_by_share(make_run: Make, make_row: Make) -> None:
    rows = [make_row("a fine film", {1: "good"}, case=f"b{n}") for n in range(3)]
    rows += [make_row("a fine film", case=f"h{n}", status="held") for n in range(9)]
    rows += [make_row("one dull day", {1: "grey"}, case=f"d{n}") for n in range(3)]
    rows += [make_row("a rare day", {1: "grey"}, case=f"r{n}") for n in range(2)]
    page = render(make_run(rows))
    widths = re.findall(
        r'<th scope="row"><bdi>(\w+)</bdi></th>.*?class="fill" width="([\d.]+)"', page
    )
    assert dict(widths)["fine"] == "25.0" and dict(widths)["dull"] == "100.0"
    # Two cases say nothing of a word.
    assert "rare" not in dict(widths)
    assert "1 word that was changed in fewer than 3 cases: not listed." in page
