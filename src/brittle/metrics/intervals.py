"""How certain a number is: intervals for rates and means, and tests for one or for many.

How certain a number is: intervals for rates and means, and a test for paired outcomes. Several
tests at once: p-values corrected so that any false finding is rare, not each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from brittle.errors import UsageError

Interval = tuple[float, float]

RESAMPLES = 2000
_DRAWS_PER_BLOCK = 1_000_000


def wilson(k: float, n: float, level: float = 0.95) -> Interval:
    """Return the Wilson score interval of a rate: k of n.

    Unlike p ± z·se it stays inside 0 … 1 and is honest at 0 of n and n of n. With n = 0 nothing
    is known: the interval is 0 … 1.

    >>> [round(bound, 4) for bound in wilson(8, 10)]
    [0.4902, 0.9433]
    >>> wilson(0, 10)[0], round(wilson(0, 10)[1], 4)
    (0.0, 0.2775)
    >>> wilson(0, 0)
    (0.0, 1.0)
    """
    if not 0 <= k <= n:
        raise UsageError(f"A rate needs 0 ≤ k ≤ n, got k = {k} and n = {n}.")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + _check_level(level)) / 2)
    rate, spread = k / n, z * z / n
    centre = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / n + spread / (4 * n)) / (1 + spread)
    low = 0.0 if k == 0 else max(0.0, centre - half)
    high = 1.0 if k == n else min(1.0, centre + half)
    return low, high


def paired_interval(
    both: int, only_a: int, only_b: int, neither: int, level: float = 0.95
) -> Interval:
    """Return Newcombe's interval of the difference of two paired rates: b's minus a's.

    The four counts tell in how many cases something holds for both, for one alone, for neither.
    The half widths of the two Wilson intervals are squared and added, less what the pairs have in
    common (Newcombe, 1998, method 10: score intervals, and a correlation whose numerator is
    corrected for continuity). Runs that never disagree still get an interval of some width, as
    they should: they might disagree on the next case. Without cases the interval is −1 … 1.

    >>> [round(bound, 4) for bound in paired_interval(36, 2, 12, 0)]
    [0.0569, 0.3404]
    >>> [round(bound, 4) for bound in paired_interval(50, 0, 0, 0)]
    [-0.0713, 0.0713]
    >>> paired_interval(0, 0, 0, 0)
    (-1.0, 1.0)
    """
    if min(both, only_a, only_b, neither) < 0:
        got = f"{both}, {only_a}, {only_b} and {neither}"
        raise UsageError(f"A paired comparison needs counts of 0 or more, got {got}.")
    n = both + only_a + only_b + neither
    if n == 0:
        return -1.0, 1.0
    in_a, in_b = both + only_a, both + only_b
    a, b = in_a / n, in_b / n
    (low_a, high_a), (low_b, high_b) = wilson(in_a, n, level), wilson(in_b, n, level)
    product: float = both * neither - only_a * only_b
    if product > 0:
        product = max(product - n / 2, 0.0)
    spread = math.sqrt(in_a * (n - in_a)) * math.sqrt(in_b * (n - in_b))
    phi = product / spread if spread else 0.0
    down = _combine(b - low_b, high_a - a, phi)
    up = _combine(high_b - b, a - low_a, phi)
    return max(-1.0, b - a - down), min(1.0, b - a + up)


def _combine(half_a: float, half_b: float, phi: float) -> float:
    return math.sqrt(max(0.0, half_a * half_a - 2 * phi * half_a * half_b + half_b * half_b))


def bootstrap_mean(values: Sequence[float], level: float = 0.95, seed: int = 0) -> Interval:
    """Return the percentile bootstrap interval of a mean (2,000 resamples).

    The same values and seed give the same interval, whatever the order of the values.

    >>> low, high = bootstrap_mean([1, 2, 2, 3, 7, 1, 2, 4])
    >>> 1.5 < low < 2.75 < high < 4.5
    True
    >>> bootstrap_mean([7, 1, 2, 4, 1, 2, 2, 3]) == (low, high)
    True
    >>> bootstrap_mean([4.0])
    (4.0, 4.0)
    """
    if not len(values):
        raise UsageError("A mean needs at least one value; got none.")
    pool = np.sort(np.asarray(values, dtype=np.float64))
    rng = np.random.default_rng(seed)
    step = max(1, _DRAWS_PER_BLOCK // len(pool))
    means = [
        pool[rng.integers(0, len(pool), size=(min(step, RESAMPLES - done), len(pool)))].mean(axis=1)
        for done in range(0, RESAMPLES, step)
    ]
    tail = (1 - _check_level(level)) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return float(low), float(high)


def bootstrap_ratio(
    a: Sequence[float], b: Sequence[float], level: float = 0.95, seed: int = 0
) -> Interval:
    """Return the percentile bootstrap interval of mean(a) / mean(b); pairs are drawn together.

    >>> low, high = bootstrap_ratio([1, 2, 3, 4], [2, 4, 6, 8])
    >>> round(low, 6), round(high, 6)
    (0.5, 0.5)
    """
    if not len(a) or len(a) != len(b):
        raise UsageError(f"A ratio needs pairs, got {len(a)} and {len(b)} values.")
    pairs = np.array([a, b], dtype=np.float64)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(a), np.full(len(a), 1 / len(a)), size=RESAMPLES)
    over, under = drawn @ pairs[0], drawn @ pairs[1]
    tail = (1 - _check_level(level)) / 2
    low, high = np.quantile(over / under, [tail, 1 - tail])
    return float(low), float(high)


def mcnemar_exact(b: int, c: int) -> float:
    """Return the two-sided exact p-value of McNemar's test.

    b and c count the cases on which two paired runs disagree, one way and the other; if the runs
    are equally good, each such case is a fair coin.

    >>> mcnemar_exact(0, 6)
    0.03125
    >>> mcnemar_exact(5, 5), mcnemar_exact(0, 0)
    (1.0, 1.0)
    """
    if min(b, c) < 0:
        raise UsageError(f"McNemar's test needs counts of 0 or more, got {b} and {c}.")
    return min(1.0, 2 * binomial_tail(max(b, c), b + c))


def binomial_tail(k: int, n: int) -> float:
    """Return the probability of at least k heads among n throws of a fair coin.

    It is the one-sided p-value of McNemar's exact test, with k of n disagreements one way.

    >>> binomial_tail(6, 6), binomial_tail(0, 4)
    (0.015625, 1.0)
    """
    # Integers until the last division: 2^-n alone would underflow beyond a thousand cases.
    term = total = 1
    if 2 * k <= n:  # the shorter of the two tails is summed
        return 1.0 - binomial_tail(n - k + 1, n) if k > 0 else 1.0
    if k > n:
        return 0.0
    for i in range(n - k):
        term = term * (n - i) // (i + 1)
        total += term
    tail: float = total / 2**n
    return tail


def _check_level(level: float) -> float:
    if not 0 < level < 1:
        raise UsageError(
            f"Got a confidence level of {level}; expected a number between 0 and 1, such as 0.95."
        )
    return level


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values corrected by Holm's step-down method (Holm, 1979), in their order.

    The smallest of m is multiplied by m, the next by m − 1, and so on; none is below a smaller one.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = largest
    return corrected
