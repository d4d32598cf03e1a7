"""How robust targets are, by the distances of their nearest adversaries on the same cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from brittle.metrics.intervals import RESAMPLES, Interval, bootstrap_mean, mcnemar_exact
from brittle.metrics.paired import rank_correlation

MIN_TARGETS = 4
"""With fewer targets a correlation means nothing."""
Distances = Mapping[str, Sequence[float | None]]
"""For each target the distance of every case: infinite if nothing was found within the radius, None
if the case has no figure, for example because the target already misreads its reconstruction."""


@dataclass(frozen=True)
class TargetRobustness:
    """The figures of one target.

    `mean` is over the `found` cases of this target, with its bootstrap interval, and `shared_mean`
    over the cases in which an adversary of every target was found. `held` counts cases without an
    adversary within the radius. `largest` is the share of the cases with a figure for all targets
    in which this target's distance is the largest; targets that are level share a case.
    """

    target: str
    found: int
    held: int
    mean: float | None
    interval: Interval | None
    shared_mean: float | None
    largest: float | None
    accuracy: float | None = None


@dataclass(frozen=True)
class SignTest:
    """In how many shared cases the first target's distance is smaller, and larger; and the p."""

    first: str
    second: str
    smaller: int
    larger: int
    p: float


def target_figures(
    distances: Distances, accuracy: Mapping[str, float] | None = None
) -> list[TargetRobustness]:
    """Compute the figures of every target.

    >>> figures = target_figures({"a": [1.0, 2.0, None], "b": [2.0, math.inf, 5.0]})
    >>> [(f.target, f.mean, f.shared_mean, f.largest, f.held) for f in figures]
    [('a', 1.5, 1.0, 0.0, 0), ('b', 3.5, 2.0, 1.0, 1)]
    """
    names = list(distances)
    cases = list(zip(*distances.values(), strict=True))
    complete = [[float(d) for d in case if d is not None] for case in cases if None not in case]
    finite = [case for case in complete if all(map(math.isfinite, case))]
    figures = []
    for n, name in enumerate(names):
        own = [d for d in distances[name] if d is not None]
        found = [d for d in own if math.isfinite(d)]
        wins = [1 / case.count(max(case)) for case in complete if case[n] == max(case)]
        figures.append(
            TargetRobustness(
                name,
                found=len(found),
                held=len(own) - len(found),
                mean=float(np.mean(found)) if found else None,
                interval=bootstrap_mean(found) if found else None,
                shared_mean=float(np.mean([case[n] for case in finite])) if finite else None,
                largest=sum(wins) / len(complete) if complete else None,
                accuracy=None if accuracy is None else accuracy.get(name),
            )
        )
    return figures


def sign_test(distances: Distances, first: str, second: str) -> SignTest:
    """Compare two targets by the cases with a figure for both; level cases do not count.

    >>> sign_test({"a": [1, 1, 1, 2], "b": [2, 2, 2, 2]}, "a", "b")
    SignTest(first='a', second='b', smaller=3, larger=0, p=0.25)
    """
    pairs = zip(distances[first], distances[second], strict=True)
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    smaller, larger = sum(a < b for a, b in known), sum(a > b for a, b in known)
    return SignTest(first, second, smaller, larger, mcnemar_exact(smaller, larger))


def accuracy_correlation(
    figures: Sequence[TargetRobustness], level: float = 0.95, seed: int = 0
) -> tuple[float, Interval] | None:
    """Return the rank correlation of accuracy and mean distance, with a bootstrap interval.

    Targets are resampled. None with fewer than four targets that have both figures.
    """
    known = [(f.accuracy, f.mean) for f in figures if f.accuracy is not None and f.mean is not None]
    pairs = np.array(known, dtype=np.float64).reshape(-1, 2)
    value = rank_correlation(pairs[:, 0], pairs[:, 1]) if len(pairs) >= MIN_TARGETS else None
    if value is None:
        return None
    rng = np.random.default_rng(seed)
    draws = [pairs[rng.integers(0, len(pairs), len(pairs))] for _ in range(RESAMPLES)]
    values = [rank_correlation(draw[:, 0], draw[:, 1]) for draw in draws]
    tail = (1 - level) / 2
    low, high = np.quantile([v for v in values if v is not None], [tail, 1 - tail])
    return value, (float(low), float(high))
