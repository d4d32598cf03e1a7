"""Runs of a search with costs: the mean in every summary, the curve on the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from brittle.metrics.curves import CostCurve
from brittle.reports import render, summary_html, summary_json, summary_text
from brittle.reports.plots import cost_figure

Make = Callable[..., Any]


def priced(make_run: Make) -> Any:
    """Make a run whose broken cases cost 0.5, 0.25 and 2."""
    costs = {"a1": 0.5, "a2": 0.25, "a3": 2.0}
    run = make_run()
    run.rows = [replace(r, cost=costs.get(r.case)) for r in run.rows]
    run.improvements = [
        replace(s, cost=costs.get(s.case)) if s.query > 1 else s for s in run.improvements
    ]
    return run


def test_the_mean_cost_is_one_of_the_figures(make_run: Make) -> None:
    run = priced(make_run)
    for text in (summary_text(run), summary_html(run), render(run)):
        assert "cost of the winner" in text and "0.917" in text
    assert re.search(r"0\.917  \[0\.25–2\] +mean over 3 broken cases", summary_text(run))
    assert summary_json(run)["cost"]["value"] == pytest.approx(2.75 / 3)


def test_the_page_draws_cost_against_queries(make_run: Make) -> None:
    page = render(priced(make_run))
    # a3 wins at query 16 (cost 2), a1 at 22 (0.5), a2 at 29 (0.25).
    assert "Median cost <b>2</b> after <b>22</b> queries, <b>0.5</b> in the end" in page
    assert 'aria-label="Median cost of the cheapest winner' in page
    assert "over the 3 broken cases" in page


def test_a_run_without_costs_says_nothing_of_them(make_run: Make) -> None:
    run = make_run()
    assert "cost of the winner" not in summary_text(run) and "Median cost" not in render(run)
    assert summary_json(run)["cost"] is None


@pytest.mark.parametrize(
    "points", [((1, 0.0),), ((3, -1.0), (5, -2.0)), tuple((n, 900.0 - n) for n in range(1, 800))]
)
def test_any_costs_are_drawn_inside_the_plot(points: tuple[tuple[int, float], ...]) -> None:
    figure = cost_figure(CostCurve(points, 9, points[-1][0] + 2))
    [path] = re.findall(r'class="line" d="([^"]+)"', figure)
    heights = [float(y) for y in re.findall(r"[V ](-?[\d.]+)", path)]
    assert all(12 <= y <= 250 for y in heights) and heights == sorted(heights)
    assert len(heights) <= 170
