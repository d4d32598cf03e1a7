"""Success against what a text keeps of its original: similarity, fluency."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brittle.metrics.costs import wins_by_case
from brittle.metrics.summary import ATTACKED, Figure, rate
from brittle.results import Result, Step

SHOWN = {"similarity": (0.8, 0.85, 0.9, 0.95), "fluency": (0.01, 0.05, 0.1, 0.5)}
"""The measures, and the values at which success is printed."""


@dataclass(frozen=True)
class KeptCurve:
    """How many of the `of` attacked cases are broken by a text that keeps so much.

    `kept` holds, lowest first, the most that a winning text of each broken case keeps; `unmeasured`
    counts broken cases without a value. Below `known`, the least that the run asked for, nothing is
    known: 0 if it asked for nothing.
    """

    measure: str
    kept: tuple[float, ...]
    of: int
    unmeasured: int = 0
    known: float = 0.0

    def at_least(self, value: float) -> int:
        """Count the cases broken by a text that keeps this much or more."""
        return len(self.kept) - bisect_left(self.kept, value)

    def figure(self, value: float, level: float = 0.95) -> Figure:
        """Return the share of attacked cases with its Wilson interval; unknown below `known`."""
        if value < self.known:
            return Figure(None, None, None, None, self.of, "attacked cases")
        return rate(self.at_least(value), self.of, "attacked cases", level)


def success_by_kept(
    results: Sequence[Result], steps: Iterable[Step], measure: str, least: float | None = None
) -> KeptCurve:
    """Compute the share of attacked cases that are broken and keep a value of `measure`.

    `least` is what the run asked for. A search ends at its first winner: one that has to keep more
    might find another text, so that the share is a lower bound. Of a search that goes on after a
    win, the winner that keeps most counts.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> rows = [replace(row, similarity=0.7 + 0.1 * n) for n, row in enumerate(sample_results())]
    >>> curve = success_by_kept(rows, [], "similarity")
    >>> curve.of, curve.at_least(0.75), round(curve.figure(0.75).value, 2)
    (5, 2, 0.4)
    """
    steps = list(steps)
    wins = {case: {query for query, _ in own} for case, own in wins_by_case(results, steps).items()}
    broken = {row.case: getattr(row, measure) for row in results if row.status == "broken"}
    best = {case: value for case, value in broken.items() if value is not None}
    for step in steps:
        value = getattr(step, measure)
        if step.case in best and value is not None and step.query in wins.get(step.case, ()):
            best[step.case] = max(best[step.case], value)
    attacked = sum(row.status in ATTACKED for row in results)
    unmeasured = len(broken) - len(best)
    return KeptCurve(measure, tuple(sorted(best.values())), attacked, unmeasured, least or 0.0)
