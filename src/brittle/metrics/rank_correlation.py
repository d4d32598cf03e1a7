"""Spearman's rank correlation: how alike two measures order the same things."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
