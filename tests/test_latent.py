"""Latent points: rows of them, and draws from a shell."""

from __future__ import annotations

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.latent import LatentPoint, draw_shell


def test_rows_are_the_points_of_single_vectors() -> None:
    vectors = np.random.default_rng(0).standard_normal((5, 3))
    points = LatentPoint.rows(vectors)
    assert points == [LatentPoint(vector) for vector in vectors]
    assert [p.key for p in points] == [LatentPoint(vector).key for vector in vectors]
    with pytest.raises(ValueError, match="read-only"):
        points[0].vector[0] = 1.0
    vectors[:] = 0.0
    assert points[0].vector.any() and LatentPoint.rows([]) == []


@pytest.mark.parametrize("vectors", [[[np.nan, 0.0]], [0.0, 1.0], [[]], [[np.inf, 1.0]]])
def test_rows_that_are_no_points(vectors: list[object]) -> None:
    with pytest.raises(UsageError, match="expected rows of finite numbers"):
        LatentPoint.rows(vectors)


def test_a_shell_is_uniform_in_radius() -> None:
    offset, length = draw_shell(np.random.default_rng(0), 20_000, 5, 2.0, 6.0)
    assert np.allclose(np.linalg.norm(offset, axis=1), length)
    assert length.min() > 2.0 and length.max() <= 6.0
    assert np.allclose(np.quantile(length, [0.25, 0.5, 0.75]), [3.0, 4.0, 5.0], atol=0.05)
    assert np.abs((offset / length[:, None]).mean(axis=0)).max() < 0.02
