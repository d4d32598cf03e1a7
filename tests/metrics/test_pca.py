from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from brittle.errors import UsageError
from brittle.metrics import pca


def test_by_hand() -> None:
    # A cross: variance 2·3²/3 along the first column, 2·1²/3 along the second.
    components = pca([[4, 1], [-2, 1], [1, 2], [1, 0]])
    assert components.centre.tolist() == [1, 1]
    assert components.axes == pytest.approx(np.eye(2))
    assert components.points == pytest.approx(np.array([[3, 0], [-3, 0], [0, 1], [0, -1]]))
    assert components.variance == pytest.approx([6, 2 / 3])
    assert components.share == pytest.approx([0.9, 0.1])


def test_it_agrees_with_the_eigenvectors_of_the_covariance() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 7)) @ rng.normal(size=(7, 7))
    components = pca(rows, 3)
    values, vectors = np.linalg.eigh(np.cov(rows.T))
    assert components.variance == pytest.approx(values[::-1][:3])
    assert components.share == pytest.approx(values[::-1][:3] / values.sum())
    for axis, vector in zip(components.axes, vectors.T[::-1]):
        assert abs(axis @ vector) == pytest.approx(1)
    assert components.points == pytest.approx((rows - rows.mean(axis=0)) @ components.axes.T)
    assert components.points.var(axis=0, ddof=1) == pytest.approx(components.variance)


def test_the_sign_is_fixed_by_the_largest_entry() -> None:
    rows = np.random.default_rng(1).normal(size=(50, 4))
    components, turned = pca(rows), pca(-rows)
    assert turned.axes == pytest.approx(components.axes)
    assert turned.points == pytest.approx(-components.points)
    for axis in components.axes:
        assert axis[np.abs(axis).argmax()] > 0


def test_of_entries_alike_the_first_is_positive() -> None:
    assert pca(np.array([[0, 0], [1, -1], [2, -2]]), 1).axes[0] == pytest.approx(
        [0.5**0.5, -(0.5**0.5)]
    )


def test_rows_that_do_not_vary_have_no_share() -> None:
    components = pca(np.ones((5, 3)))
    assert components.share.tolist() == [0, 0] and components.variance.tolist() == [0, 0]
    assert components.points == pytest.approx(np.zeros((5, 2)))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([1, 2, 3], "1 dimensions"),
        ([[1, 2], [3, 4]], "2 rows of 2 columns; 2 components need at least 3 rows"),
        ([[1], [2], [3]], "3 rows of 1 columns"),
        ([[1, 2], [3, float("nan")], [5, 6]], "nan or infinity"),
    ],
)
def test_what_cannot_be_drawn_is_refused(rows: ArrayLike, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pca(rows)
