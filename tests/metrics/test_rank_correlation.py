"""Spearman's rank correlation, by hand."""

from __future__ import annotations

import pytest

from brittle.metrics.paired import rank_correlation


def test_rank_correlation_by_hand() -> None:
    assert rank_correlation([1, 2, 3], [2, 4, 9]) == pytest.approx(1)
    assert rank_correlation([3, 2, 1], [1, 2, 3]) == pytest.approx(-1)
    assert rank_correlation([], []) is None and rank_correlation([1, 1], [1, 2]) is None


def test_equal_values_share_a_rank() -> None:
    # Ranks 1.5, 1.5, 3 and 1, 2, 3: covariance 1.5, variances 1.5 and 2.
    assert rank_correlation([5, 5, 7], [1, 2, 3]) == pytest.approx(1.5 / (1.5 * 2) ** 0.5)
    # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4.
    assert rank_correlation([1, 5, 5, 9], [1, 2, 3, 4]) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
