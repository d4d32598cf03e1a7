"""Wins of searches with costs, read from stored steps: by hand and against real outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from random import Random
from statistics import median

import pytest

from brittle.engine.running import Outcome
from brittle.metrics import cost_by_queries, success_by_queries, summary
from brittle.metrics.curves import wins_by_case
from brittle.metrics.samples import sample_results
from brittle.results import Result, Step
from engine.test_costs import attacked, best_so_far


def rows_of(
    outcome: Outcome, case: str = "0", goal: str = "untargeted"
) -> tuple[Result, list[Step]]:
    """Build the row and the steps of an outcome of the engine's tests, where 500 is the border."""
    steps = []
    for step in outcome.steps:
        high = float(step.payload[1])
        label, sure = ("high", high) if high > 0.5 else ("low", 1 - high)
        steps.append(Step(case, step.query, step.loss, label, sure, (), cost=step.cost))
    best = steps[-1]
    row = replace(
        sample_results()[0],
        case=case,
        goal=goal,
        status=outcome.status,
        queries=outcome.queries,
        label="low",
        predicted="low",
        edits=(),
        cost=best.cost,
        adversarial_label=best.label,
        adversarial_confidence=best.confidence,
    )
    return row, steps


def random_rounds(rng: Random) -> list[list[tuple[int, float]]]:
    sizes = [rng.randrange(1, 7) for _ in range(rng.randrange(1, 6))]
    return [[(rng.randrange(200, 700), float(rng.randrange(30))) for _ in range(n)] for n in sizes]


@pytest.mark.parametrize("seed", range(40))
def test_the_winners_are_those_of_the_search(seed: int) -> None:
    rounds = random_rounds(Random(seed))
    outcome, expected = attacked(rounds), best_so_far(rounds, None)
    row, steps = rows_of(outcome)
    wins = wins_by_case([row], steps)
    assert wins == ({"0": [(query, cost) for query, _, cost in expected]} if expected else {})
    curve = success_by_queries([row], steps)
    assert curve.points == (((expected[0][0], 1),) if expected else ())


def test_a_case_is_broken_at_its_first_winner_not_at_its_cheapest() -> None:
    rounds = [[(300, 1.0)] * 7, [(600, 9.0)], *[[(650, 9.0 - n / 8)] for n in range(40)]]
    row, steps = rows_of(attacked(rounds))
    assert row.queries == 49
    assert success_by_queries([row], steps).points == ((9, 1),)


def test_a_winner_that_failed_alone_hides_no_earlier_one() -> None:
    rounds = [[(600, 5.0)], [(700, 1.0), (300, 9.0)], [(800, 2.0)]]
    row, steps = rows_of(attacked(rounds, fails_alone=[700]))
    assert [step.cost for step in steps] == [None, 5.0, 2.0]
    assert wins_by_case([row], steps) == {"0": [(2, 5.0), (5, 2.0)]}


def best_at(wins: Sequence[Sequence[tuple[int, float]]], query: int) -> float:
    return median(min((c for q, c in own if q <= query), default=inf) for own in wins)


@pytest.mark.parametrize("seed", range(20))
def test_the_median_of_the_best_so_far_by_brute_force(seed: int) -> None:
    rng = Random(seed)
    rows, steps = list[Result](), list[Step]()
    for case in range(rng.randrange(1, 9)):
        row, own = rows_of(attacked(random_rounds(rng)), str(case))
        rows.append(row)
        steps += own
    wins = list(wins_by_case(rows, steps).values())
    curve = cost_by_queries(rows, steps)
    assert curve.of == len(wins) == sum(row.status == "broken" for row in rows)
    for query in range(curve.end + 3):
        expected = best_at(wins, query) if wins else inf
        assert curve.cost(query) == (None if expected == inf else expected)
    if wins:
        last = [r.cost for r in rows if r.status == "broken" and r.cost is not None]
        assert curve.cost(curve.end) == median(last)
    falls = [cost for _, cost in curve.points]
    assert falls == sorted(set(falls), reverse=True)


def test_the_mean_cost_is_over_broken_cases_that_have_one() -> None:
    rows = [replace(row, cost=float(n)) for n, row in enumerate(sample_results())]
    figure = summary(rows).cost
    assert (figure.value, figure.of, figure.over) == (1.0, 3, "broken cases")
    assert figure.low is not None and figure.low <= 1.0
    assert summary(sample_results()).cost.value is None
    assert cost_by_queries(sample_results(), []).points == ()
