"""Whether success would grow with a larger budget, as far as the stored steps tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brittle.metrics.curves import success_by_queries
from brittle.metrics.summary import ATTACKED, Figure, rate
from brittle.results import Result, Step

MAX_LATE = 0.01
"""Success is flat if no larger share of the attacked cases broke in the budget's last half."""


@dataclass(frozen=True)
class Flattening:
    """Whether success against the budget has flattened.

    `late` is the share of attacked cases that broke in the second half of the budget, None if no
    case ran out of it: every search ended by itself, and a larger budget changes nothing.
    """

    is_flat: bool
    late: Figure | None = None


def flattening(
    results: Sequence[Result], steps: Iterable[Step], budget: int | None = None
) -> Flattening | None:
    """Tell whether success has flattened; None if nothing was attacked.

    It is still rising if cases ran out of budget, and more than 1% of the attacked cases broke in
    the second half of the budget.

    >>> from brittle.metrics.samples import sample_results, sample_steps
    >>> rising = flattening(sample_results(), sample_steps(), 50)
    >>> rising.is_flat, rising.late.count, rising.late.of
    (False, 1, 5)
    >>> flattening(sample_results()[:4], sample_steps(), 50)
    Flattening(is_flat=True, late=None)
    """
    attacked = [row for row in results if row.status in ATTACKED]
    if not attacked:
        return None
    if all(row.status != "out of budget" for row in attacked):
        return Flattening(True)
    curve = success_by_queries(results, steps)
    whole = curve.end if budget is None else budget
    late = curve.broken(whole) - curve.broken(whole / 2)
    figure = rate(late, curve.of, "attacked cases")
    return Flattening((figure.value or 0.0) <= MAX_LATE, figure)
