"""What the winners of a search with costs cost, and how that falls with the queries."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import median

from brittle.results import Result, Step

Win = tuple[int, float]
"""The query of a winner, and its cost."""


@dataclass(frozen=True)
class CostCurve:
    """The median cost of the cheapest winner so far, over the `of` broken cases, by queries.

    A case that has no winner yet counts as infinitely dear: the curve starts where more than half
    of the cases have one. `points` holds a pair (query, median) wherever the median falls; `end`
    is the most queries of a broken case.
    """

    points: tuple[tuple[int, float], ...]
    of: int
    end: int

    def cost(self, queries: int) -> float | None:
        """Return the median after so many queries a case; None before the curve starts."""
        n = bisect_right(self.points, (queries, inf))
        return self.points[n - 1][1] if n else None


def cost_by_queries(results: Sequence[Result], steps: Iterable[Step]) -> CostCurve:
    """Compute how the cost of the cheapest winner falls with the queries of a case.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results, sample_steps
    >>> rows = [replace(row, cost=2.0) for row in sample_results()]
    >>> steps = [replace(step, cost=2.0) for step in sample_steps() if step.query > 1]
    >>> cost_by_queries(rows, steps).points
    ((22, 2.0),)
    """
    broken = [r for r in results if r.status == "broken" and r.cost is not None]
    best = {row.case: inf for row in broken}
    wins = [(*win, case) for case, own in wins_by_case(broken, steps).items() for win in own]
    costs, points = [inf] * len(broken), dict[int, float]()
    for query, cost, case in sorted(wins):
        costs.remove(best[case])
        insort(costs, cost)
        best[case] = cost
        if isfinite(middle := median(costs)) and middle < min(points.values(), default=inf):
            points[query] = middle
    end = max((row.queries for row in broken), default=0)
    return CostCurve(tuple(points.items()), len(broken), end)


def wins_by_case(results: Sequence[Result], steps: Iterable[Step]) -> dict[str, list[Win]]:
    """Return the wins of every broken case that has a cost, each cheaper than the one before.

    Of the steps of such a case those of winners, and only those, have a cost.
    """
    broken = [r for r in results if r.status == "broken" and r.cost is not None]
    wins: dict[str, list[Win]] = {row.case: [] for row in broken}
    for step in steps:
        if step.case in wins and step.cost is not None:
            wins[step.case].append((step.query, step.cost))
    return wins
