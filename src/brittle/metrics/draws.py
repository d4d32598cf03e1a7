"""The mean success of a random draw, of attacks that sample."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.metrics.clusters import mean_by_text
from brittle.metrics.summary import ATTACKED, Figure
from brittle.results import Result


def success_per_draw(results: Sequence[Result], level: float = 0.95) -> Figure | None:
    """Return the mean over cases of the share of draws that won; None if no case has drawn.

    The interval is by bootstrap over texts: draws in one text are not independent.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> broken = sample_results()[0]
    >>> rows = [replace(broken, original=f"{n}", tried=10, won=n) for n in range(5)]
    >>> figure = success_per_draw(rows)
    >>> figure.value, figure.of
    (0.2, 5)
    >>> success_per_draw(sample_results()) is None
    True
    """
    shares = [
        (row.original, (row.won or 0) / row.tried)
        for row in results
        if row.tried and row.status in ATTACKED
    ]
    return mean_by_text(shares, "attacked cases", level) if shares else None
