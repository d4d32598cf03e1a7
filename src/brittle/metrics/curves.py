"""How success grows with the cost to an attacker: queries, words changed, or a distance."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brittle.metrics.costs import wins_by_case
from brittle.metrics.summary import ATTACKED
from brittle.results import Result, Step


@dataclass(frozen=True)
class Curve:
    """How many of the `of` attacked cases are broken at a cost of x or less.

    `points` holds a pair (x, cases broken so far) wherever the count rises. The curve is known up
    to `end`: the most queries of any attacked case, or a little beyond the last rise.
    """

    points: tuple[tuple[float, int], ...]
    of: int
    end: float

    def broken(self, x: float) -> int:
        """Count the cases broken at a cost of x or less."""
        n = bisect_right(self.points, (x, self.of))
        return self.points[n - 1][1] if n else 0

    def share(self, x: float) -> float:
        """Return the share of attacked cases broken at a cost of x or less."""
        return self.broken(x) / self.of if self.of else 0.0


def success_by_queries(results: Sequence[Result], steps: Iterable[Step]) -> Curve:
    """Compute success by the queries of one case: a budget of x would have broken this share.

    A broken case counts at the query of its adversarial text, which may come before the last query
    of its batch; a case of a search with costs at the query of its first winner, cheap or not.

    >>> from brittle.metrics.samples import sample_results, sample_steps
    >>> curve = success_by_queries(sample_results(), sample_steps())
    >>> curve.points, curve.of, curve.share(25)
    (((16, 1), (22, 2), (29, 3)), 5, 0.4)
    """
    broken = {r.case: r for r in results if r.status == "broken"}
    costs = {case: r.queries for case, r in broken.items()}
    steps = list(steps)
    for step in steps:
        if step.case in broken and step.edits == broken[step.case].edits:
            costs[step.case] = step.query
    costs |= {case: wins[0][0] for case, wins in wins_by_case(results, steps).items() if wins}
    attacked = [r for r in results if r.status in ATTACKED]
    return _curve(costs.values(), len(attacked), max((r.queries for r in attacked), default=0))


def success_by_words(results: Sequence[Result]) -> Curve:
    """Compute success by the words changed: this share is broken with x words or fewer.

    >>> from brittle.metrics.samples import sample_results
    >>> success_by_words(sample_results()).points
    ((1, 2), (2, 3))
    """
    costs = [r.words_changed for r in results if r.status == "broken"]
    attacked = sum(r.status in ATTACKED for r in results)
    return _curve(costs, attacked, max(costs, default=0) + 1)


def success_by_measure(results: Sequence[Result], measure: str) -> Curve:
    """Compute success by how far pictures were moved: `measure` is l2 or linf.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> moved = [replace(row, linf=0.1 * n) for n, row in enumerate(sample_results(), 1)]
    >>> success_by_measure(moved, "linf").points
    ((0.1, 1), (0.2, 2), (0.30000000000000004, 3))
    """
    broken = [getattr(r, measure) for r in results if r.status == "broken"]
    costs = [float(value) for value in broken if value is not None]
    attacked = sum(r.status in ATTACKED for r in results)
    return _curve(costs, attacked, 1.05 * max(costs, default=0.0))


def _curve(costs: Iterable[float], attacked: int, end: float) -> Curve:
    points: dict[float, int] = {}
    for count, cost in enumerate(sorted(costs), 1):
        points[cost] = count
    return Curve(tuple(points.items()), attacked, end)
