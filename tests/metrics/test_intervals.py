from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.metrics import bootstrap_mean, mcnemar_exact, paired_interval, wilson


@pytest.mark.parametrize(("k", "n"), [(1, 7), (8, 10), (50, 100), (999, 1000), (3, 400)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_wilson_bounds_solve_the_score_equation(k: int, n: int, level: float) -> None:
    z = NormalDist().inv_cdf((1 + level) / 2)
    for bound in wilson(k, n, level):
        standard_error = math.sqrt(bound * (1 - bound) / n)
        assert abs(k / n - bound) == pytest.approx(z * standard_error)


def test_wilson_at_the_edges() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 20)[0] == 0.0
    assert wilson(20, 20)[1] == 1.0
    assert wilson(0, 20)[1] == pytest.approx(1 - wilson(20, 20)[0])


@pytest.mark.parametrize(("k", "n"), [(3, 2), (-1, 2)])
def test_wilson_refuses_what_is_no_rate(k: int, n: int) -> None:
    with pytest.raises(UsageError, match=f"k = {k} and n = {n}"):
        wilson(k, n)


def test_a_level_must_lie_between_0_and_1() -> None:
    with pytest.raises(UsageError, match=r"Got a confidence level of 95; .* such as 0\.95"):
        wilson(1, 2, level=95)
    with pytest.raises(UsageError, match="Got a confidence level of 0;"):
        bootstrap_mean([1, 2], level=0)


def test_the_bootstrap_agrees_with_theory_on_many_values() -> None:
    values = np.random.default_rng(1).normal(10, 2, size=900)
    low, high = bootstrap_mean(values.tolist())
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert low == pytest.approx(values.mean() - half, abs=0.02)
    assert high == pytest.approx(values.mean() + half, abs=0.02)


def test_the_bootstrap_is_deterministic_and_blind_to_order() -> None:
    values = [1.31, 5.17, 2.73, 2.92, 9.48, 3.36, 0.71]
    assert bootstrap_mean(values) == bootstrap_mean(values[::-1])
    assert bootstrap_mean(values, seed=1) != bootstrap_mean(values, seed=2)
    narrow, wide = bootstrap_mean(values, 0.5), bootstrap_mean(values, 0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_the_bootstrap_is_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = list(range(50))
    whole = bootstrap_mean(values)
    monkeypatch.setattr("brittle.metrics.intervals._DRAWS_PER_BLOCK", 700)
    assert bootstrap_mean(values) == whole


def test_a_mean_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one value"):
        bootstrap_mean([])


def test_mcnemar_equals_the_binomial_sum() -> None:
    for b in range(9):
        for c in range(9):
            n = b + c
            tail = sum(Fraction(math.comb(n, i), 2**n) for i in range(min(b, c) + 1))
            assert mcnemar_exact(b, c) == pytest.approx(float(min(Fraction(1), 2 * tail)))


def test_mcnemar_with_many_cases_neither_under_nor_overflows() -> None:
    assert mcnemar_exact(5000, 5000) == 1.0
    assert 0 < mcnemar_exact(4700, 5300) < 1e-8
    assert mcnemar_exact(0, 5000) == 0.0
    with pytest.raises(UsageError, match="-1"):
        mcnemar_exact(-1, 3)


@pytest.mark.parametrize(
    ("table", "low", "high"),
    # Published worked values of the same method, the difference turned to "second minus first".
    [((36, 12, 2, 0), -0.3404, -0.0569), ((1, 1, 7, 12), 0.026, 0.507)],
)
def test_the_paired_interval_has_its_published_values(
    table: tuple[int, int, int, int], low: float, high: float
) -> None:
    assert paired_interval(*table) == pytest.approx((low, high), abs=5e-4)


def test_without_correlation_the_paired_interval_squares_and_adds() -> None:
    # 8·2 = 4·4: the outcomes have nothing in common.
    low, high = paired_interval(8, 4, 4, 2)
    lower, upper = wilson(12, 18)
    half = math.hypot(12 / 18 - lower, upper - 12 / 18)
    assert (low, high) == pytest.approx((-half, half))


def test_the_paired_interval_turns_with_its_sides() -> None:
    for table in [(5, 3, 1, 4), (0, 7, 0, 3), (9, 0, 0, 1), (0, 4, 6, 0)]:
        both, only_a, only_b, neither = table
        low, high = paired_interval(*table)
        assert paired_interval(both, only_b, only_a, neither) == pytest.approx((-high, -low))
        # Failures are successes with the sides turned.
        assert paired_interval(neither, only_b, only_a, both) == pytest.approx((-high, -low))


def test_the_paired_interval_holds_the_difference_and_stays_inside() -> None:
    for both in range(4):
        for only_a in range(5):
            for only_b in range(5):
                for neither in range(4):
                    n = both + only_a + only_b + neither
                    if n:
                        low, high = paired_interval(both, only_a, only_b, neither)
                        assert -1 <= low <= (only_b - only_a) / n <= high <= 1


def test_the_paired_interval_covers_what_it_promises() -> None:
    """Over every table of n cases, weighted by how probable it is: near 95% on the average."""
    n = 20
    rng = np.random.default_rng(0)
    tables = [
        (a, b, c, n - a - b - c)
        for a in range(n + 1)
        for b in range(n + 1 - a)
        for c in range(n + 1 - a - b)
    ]
    bounds = np.array([paired_interval(*table) for table in tables])
    ways = np.array([math.factorial(n) / math.prod(map(math.factorial, t)) for t in tables])
    covered = []
    for _ in range(60):
        chance = rng.dirichlet([1, 1, 1, 1])
        weight = ways * np.prod(chance ** np.array(tables), axis=1)
        true = chance[2] - chance[1]
        covered.append(weight[(bounds[:, 0] <= true) & (true <= bounds[:, 1])].sum())
    assert 0.94 < np.mean(covered) < 0.98
    assert min(covered) > 0.85


def test_the_paired_interval_of_nothing_is_everything() -> None:
    assert paired_interval(0, 0, 0, 0) == (-1.0, 1.0)
    with pytest.raises(UsageError, match="got 1, -2, 3 and 4"):
        paired_interval(1, -2, 3, 4)
    with pytest.raises(UsageError, match="Got a confidence level of 95"):
        paired_interval(1, 2, 3, 4, level=95)
