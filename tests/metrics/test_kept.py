"""Success against what texts keep, by counting."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from brittle.metrics import success_by_kept, wilson
from brittle.metrics.samples import sample_results, sample_steps
from brittle.results import Result


def rows(values: list[float | None]) -> list[Result]:
    """Broken cases with these similarities, and one that held with a similarity of its own."""
    first = sample_results()[0]
    broken = [replace(first, case=f"{n}", similarity=v) for n, v in enumerate(values)]
    return [*broken, replace(first, case="held", status="held", similarity=0.99)]


def test_counts_are_those_of_broken_cases() -> None:
    rng = Random(3)
    values: list[float | None] = [round(rng.uniform(0.5, 1), 2) for _ in range(40)]
    curve = success_by_kept(rows([*values, None]), [], "similarity")
    assert (curve.of, curve.unmeasured, len(curve.kept)) == (42, 1, 40)
    for least in (0.0, 0.5, 0.7, 0.75, 0.99, 1.0):
        count = sum(value is not None and value >= least for value in values)
        figure = curve.figure(least)
        assert curve.at_least(least) == figure.count == count
        assert (figure.low, figure.high) == pytest.approx(wilson(count, 42))


def test_below_what_the_run_asked_for_nothing_is_known() -> None:
    curve = success_by_kept(rows([0.9, 0.95]), [], "similarity", least=0.85)
    assert curve.figure(0.8).value is None and curve.figure(0.85).count == 2
    assert success_by_kept(rows([0.9]), [], "fluency").kept == ()


def test_of_a_search_with_costs_the_winner_that_keeps_most_counts() -> None:
    first = sample_results()[0]
    step = next(s for s in sample_steps() if s.case == first.case)
    row = replace(first, cost=1.0, similarity=0.6)
    steps = [
        replace(step, query=5, cost=None, similarity=0.99),  # no winner
        replace(step, query=6, cost=3.0, similarity=0.9),
        replace(step, query=9, cost=1.0, similarity=0.6),
    ]
    assert success_by_kept([row], steps, "similarity").kept == (0.9,)
