"""How often the finished text of the attack by rules works, computed from the steps of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from brittle.metrics.summary import ATTACKED, Figure, rate
from brittle.results import Result, Step

FIRST_CANDIDATE = 2
"""The query that a search asks first; query 1 is the original."""


def success_at_limit(results: Sequence[Result], steps: Iterable[Step]) -> Figure:
    """Compute the share of attacked cases whose first candidate, the finished text, wins.

    Of a search with costs every winner's step has its cost; only winners have one.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> rows = [replace(row, case=str(n)) for n, row in enumerate(sample_results())]
    >>> won = [row.case for row in rows if row.status == "broken"]
    >>> steps = [Step(won[0], 2, 0.9, "negative", 0.9, (), cost=3.0)]
    >>> success_at_limit(rows, steps).count, success_at_limit(rows, steps).of
    (1, 5)
    """
    attacked = {row.case: row.status for row in results if row.status in ATTACKED}
    winners = {s.case for s in steps if s.query == FIRST_CANDIDATE and s.cost is not None}
    count = sum(attacked.get(case) == "broken" for case in winners)
    return rate(count, len(attacked), "attacked cases")
