"""Principal components: the directions in which row vectors vary most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brittle.errors import UsageError

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Components:
    """Principal components of row vectors.

    `points` are the rows on the components (rows × components), `axes` the components as unit
    vectors (components × columns), `variance` the variance along each (with n − 1), `share` its
    share of the whole variance (0 if nothing varies), `centre` the mean row.
    """

    points: Matrix
    axes: Matrix
    variance: Matrix
    share: Matrix
    centre: Matrix


def pca(rows: ArrayLike, components: int = 2) -> Components:
    """Compute the directions in which rows vary most, by singular values of the centred rows.

    A direction has no sign of its own: its largest entry (by absolute value; the first of equal
    ones) is made positive, so that the same rows always give the same components.

    >>> components = pca([[0, 0], [3, 4], [6, 8], [9, 12]])
    >>> components.axes.round(3).tolist()[0], components.share.round(6).tolist()
    ([0.6, 0.8], [1.0, 0.0])
    >>> components.points[:, 0].round(3).tolist()
    [-7.5, -2.5, 2.5, 7.5]
    """
    matrix = np.asarray(rows, dtype=np.float64)
    _check(matrix, components)
    centre = matrix.mean(axis=0)
    centred = matrix - centre
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[:components]
    # Entries that differ by rounding alone count as equal, so that rounding never chooses the sign.
    magnitude = np.round(np.abs(axes), 9)
    largest = axes[np.arange(len(axes)), magnitude.argmax(axis=1)]
    axes = axes * np.where(largest < 0, -1.0, 1.0)[:, None]
    total = float(np.square(sizes).sum())
    squares = np.square(sizes[:components])
    share = squares / total if total > 0 else np.zeros_like(squares)
    return Components(centred @ axes.T, axes, squares / (len(matrix) - 1), share, centre)


def _check(matrix: Matrix, components: int) -> None:
    if matrix.ndim != 2:
        raise UsageError(f"Got an array of {matrix.ndim} dimensions; expected rows of vectors.")
    if not 1 <= components <= min(len(matrix) - 1, matrix.shape[1]):
        raise UsageError(
            f"Got {len(matrix)} rows of {matrix.shape[1]} columns; {components} components need "
            f"at least {components + 1} rows and {components} columns."
        )
    if not np.isfinite(matrix).all():
        raise UsageError("Got rows with nan or infinity; expected finite numbers.")
