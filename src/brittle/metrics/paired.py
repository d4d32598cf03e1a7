"""Two runs over the same cases, and two measures of the same things.

Two runs over the same cases, compared case by case. Spearman's rank correlation: how alike two
measures order the same things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brittle.metrics.intervals import mcnemar_exact, paired_interval
from brittle.metrics.summary import ATTACKED, is_judged, is_right_after, is_undone
from brittle.results import Result


@dataclass(frozen=True)
class Contrast:
    """How often something holds in run a, in run b, in both, over the `of` cases they share.

    `difference` is b's rate minus a's, with Newcombe's interval for pairs; `p` is that of McNemar's
    exact test, which decides (`is_significant`). The interval is an approximation: near the
    threshold it may leave out 0 where the test does not decide, and the other way round. Without
    shared cases there is no difference, and p is 1.
    """

    of: int
    both: int
    only_a: int
    only_b: int
    neither: int
    difference: float | None
    low: float | None
    high: float | None
    p: float

    def is_significant(self, level: float = 0.05) -> bool:
        """Tell whether the two rates differ, as McNemar's exact test decides at this level."""
        return self.p < level


@dataclass(frozen=True)
class Paired:
    """The comparison of run b with run a.

    `shared` counts the cases in both. `before` (accuracy on the originals) and `accuracy` (under
    attack) are over those whose originals were answered in both, `success` over those attacked in
    both. `robustness` is the accuracy under attack over the cases that both have right before it.
    Where a target undoes the edits of its attack, no case is compared under attack.
    """

    shared: int
    before: Contrast
    accuracy: Contrast
    success: Contrast
    robustness: Contrast


def paired(a: Sequence[Result], b: Sequence[Result], level: float = 0.95) -> Paired:
    """Compare the rows of two runs case by case, by case id.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> rows = sample_results()
    >>> better = [replace(row, status="broken") if row.status == "held" else row for row in rows]
    >>> compared = paired(rows, better)
    >>> compared.success.both, compared.success.only_b, round(compared.success.difference, 3)
    (3, 1, 0.2)
    >>> compared.success.p, compared.before.difference
    (1.0, 0.0)
    """
    rows_b = {r.case: r for r in b}
    pairs = [(r, rows_b[r.case]) for r in a if r.case in rows_b]
    attacked = [(x, y) for x, y in pairs if x.status in ATTACKED and y.status in ATTACKED]
    judged = [(x, y) for x, y in pairs if is_judged(x) and is_judged(y)]
    before = [(x.predicted == x.label, y.predicted == y.label) for x, y in judged]
    is_tested = not (is_undone(a) or is_undone(b))
    right = [(is_right_after(x), is_right_after(y)) for x, y in judged if is_tested]
    broken = [(x.status == "broken", y.status == "broken") for x, y in attacked]
    stands = [after for after, clean in zip(right, before) if clean == (True, True)]
    outcomes = (before, right, broken, stands)
    return Paired(len(pairs), *(contrast(pairs_of, level) for pairs_of in outcomes))


def contrast(outcomes: Sequence[tuple[bool, bool]], level: float = 0.95) -> Contrast:
    """Compare two yes-or-no outcomes of the same cases.

    >>> contrast([(True, True), (False, True), (False, False)]).only_b
    1
    """
    both = sum(x and y for x, y in outcomes)
    only_a = sum(x and not y for x, y in outcomes)
    only_b = sum(y and not x for x, y in outcomes)
    n = len(outcomes)
    p = mcnemar_exact(only_a, only_b)
    if not n:
        return Contrast(0, 0, 0, 0, 0, None, None, None, p)
    neither = n - both - only_a - only_b
    low, high = paired_interval(both, only_a, only_b, neither, level)
    return Contrast(n, both, only_a, only_b, neither, (only_b - only_a) / n, low, high, p)


def rank_correlation(a: ArrayLike, b: ArrayLike) -> float | None:
    """Compute Spearman's correlation; None if one of the two is constant. Ties share a rank.

    >>> rank_correlation([1, 2, 3], [10, 30, 20]), rank_correlation([1, 2], [5, 5])
    (0.5, None)
    """
    x, y = (_ranks(np.asarray(values, dtype=np.float64)) for values in (a, b))
    x, y = x - x.mean() if len(x) else x, y - y.mean() if len(y) else y
    length = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / length if length else None


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value; equal values have the mean of their ranks."""
    _, group, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: NDArray[np.float64] = (last - (count - 1) / 2)[group]
    return ranks
