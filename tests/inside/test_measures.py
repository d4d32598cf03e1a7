"""Re and the change by distance, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brittle.inside.measures import (
    MAX_DISTANCE,
    AttendedText,
    InsideCase,
    change_by_distance,
    distance_name,
    distances,
    relative_change,
    sample_inside,
)


def case(
    changes: list[float | None], edited: tuple[int, ...], re: float | None = 1.0
) -> InsideCase:
    text = AttendedText(tuple("abcdefghijklmnop"[: len(changes)]))
    pairs = tuple((n, n) for n in range(len(changes)))
    return InsideCase("c", text, text, pairs, edited, (tuple(changes),), re)


def test_re_is_the_mean_over_cases_that_have_one() -> None:
    figure = relative_change([case([1], (0,), 0.2), case([1], (0,), None), case([1], (0,), 0.6)])
    assert figure.value == pytest.approx(0.4) and figure.of == 2
    assert figure.low is not None and figure.high is not None
    assert 0.2 <= figure.low <= figure.high <= 0.6
    assert relative_change([]).value is None


def test_the_nearest_edit_counts_and_of_two_the_one_before() -> None:
    assert distances(case([0] * 7, (1, 5))) == (-1, 0, 1, 2, -1, 0, 1)
    moved = replace(case([0] * 3, (1,)), pairs=((0, 0), (1, 2), (2, 3)))
    assert distances(moved) == (-1, 1, 2)


def test_a_case_counts_once_for_a_distance() -> None:
    both = [case([1, 2, 4], (0, 2)), case([8, 0, None], (0,))]
    means = change_by_distance(both, ["layer"])["layer"]
    # Distance 0: the mean of 1 and 4, and 8; distance 1: 2 and 0; the last word is not read.
    assert {d: (f.value, f.of) for d, f in means.items()} == {0: (5.25, 2), 1: (1.0, 2)}


def test_far_words_are_counted_together() -> None:
    far = case([float(n) for n in range(14)], (7,))
    means = change_by_distance([far], ["layer"])["layer"]
    assert list(means) == list(range(-MAX_DISTANCE - 1, MAX_DISTANCE + 2))
    assert means[-MAX_DISTANCE - 1].value == pytest.approx((0 + 1 + 2) / 3)
    assert [distance_name(d) for d in (-5, -1, 0, 5)] == ["≤ −5", "−1", "0", "≥ +5"]


def test_a_run_without_layers_has_no_means() -> None:
    assert change_by_distance(sample_inside().cases, []) == {}
