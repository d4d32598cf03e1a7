from __future__ import annotations

from dataclasses import replace

import pytest

from brittle.metrics.curves import flattening
from brittle.metrics.samples import sample_results
from brittle.results import Result, Step

BUDGET = 100


def run_of(
    broken_at: list[int], out_of_budget: int, held: int = 0
) -> tuple[list[Result], list[Step]]:
    """Rows of cases broken at these queries, out of budget, or held, with the winners' steps."""
    broken, other = sample_results()[0], sample_results()[4]
    rows = [replace(broken, case=f"b{n}", queries=q) for n, q in enumerate(broken_at)]
    rows += [replace(other, case=f"o{n}", queries=BUDGET) for n in range(out_of_budget)]
    rows += [replace(other, case=f"h{n}", status="held", reason="") for n in range(held)]
    steps = [Step(row.case, row.queries, 0.9, "negative", 0.9, row.edits) for row in rows]
    return rows, steps


@pytest.mark.parametrize(
    ("late", "early", "is_flat"),
    [(1, 98, True), (2, 97, False), (0, 99, True), (20, 10, False)],
)
def test_it_rises_while_more_than_one_in_a_hundred_breaks_late(
    late: int, early: int, is_flat: bool
) -> None:
    others = 100 - late - early
    found = flattening(*run_of([51] * late + [50] * early, others), BUDGET)
    assert found is not None and found.late is not None
    assert found.is_flat == is_flat
    assert (found.late.count, found.late.of) == (late, 100)


def test_where_every_search_ended_by_itself_a_larger_budget_changes_nothing() -> None:
    found = flattening(*run_of([90] * 40, 0, held=10), BUDGET)
    assert found is not None and found.is_flat and found.late is None


def test_without_a_budget_the_most_queries_of_a_case_count() -> None:
    rows, steps = run_of([10, 40, 60, 80], 1)
    found = flattening(rows, steps)
    assert found is not None and found.late is not None and found.late.count == 2


def test_nothing_is_said_of_a_run_without_attacked_cases() -> None:
    assert flattening(sample_results()[5:], (), BUDGET) is None
    assert flattening([], ()) is None
