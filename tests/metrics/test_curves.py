from __future__ import annotations

from dataclasses import replace

from brittle.metrics import success_by_queries, success_by_words
from brittle.metrics.samples import sample_results, sample_steps


def test_a_winner_counts_at_the_query_that_found_it() -> None:
    curve = success_by_queries(sample_results(), sample_steps())
    assert curve.points == ((16, 1), (22, 2), (29, 3))
    assert (curve.of, curve.end) == (5, 50)
    assert [curve.broken(x) for x in (0, 15, 16, 28, 29, 1000)] == [0, 0, 1, 2, 3, 3]
    assert curve.share(50) == 3 / 5


def test_without_its_step_a_winner_counts_at_its_last_query() -> None:
    assert success_by_queries(sample_results(), []).points == ((18, 1), (24, 2), (31, 3))


def test_an_improvement_on_the_way_is_no_win() -> None:
    steps = sample_steps()
    on_the_way = [replace(step, query=2, edits=step.edits[:0]) for step in steps]
    assert (
        success_by_queries(sample_results(), on_the_way + steps).points
        == success_by_queries(sample_results(), steps).points
    )


def test_cases_that_cost_the_same_are_one_rise() -> None:
    curve = success_by_words(sample_results())
    assert curve.points == ((1, 2), (2, 3))
    assert (curve.of, curve.end) == (5, 3)


def test_no_rows_give_an_empty_curve() -> None:
    curve = success_by_queries([], [])
    assert (curve.points, curve.of, curve.share(10)) == ((), 0, 0.0)
