"""Theorem 1: against scores written out, an exact expectation, and its rate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from brittle_papers.attention.bound import (
    CONSTANT,
    FAMILIES,
    TAILS,
    check,
    check_family,
    expected_change,
    measured,
    norms,
    rotate,
    slope,
    spectral_norm,
    sphere,
    unit_columns,
    worst_perturbation,
)

DIMENSIONS = (8, 16, 32, 64, 128)


def test_a_change_is_that_of_the_scores_written_out() -> None:
    rng = np.random.default_rng(0)
    w_q, w_k = rng.standard_normal((2, 6, 4))
    x, delta = rng.standard_normal((5, 6)), rng.standard_normal(6)
    moved = x.copy()
    moved[2] += delta  # the word j = 2 changes; all others stay
    before, after = (one @ w_q @ w_k.T @ one.T for one in (x, moved))
    z = w_q @ (w_k.T @ delta)
    for i in (0, 1, 3, 4):
        assert after[i, 2] - before[i, 2] == pytest.approx(x[i] @ z)
        assert np.delete(after[i], 2) == pytest.approx(np.delete(before[i], 2))


@pytest.mark.parametrize("d", [2, 3, 8, 300])
def test_the_mean_is_the_exact_expectation(d: int) -> None:
    z = unit_columns(d, np.random.default_rng(1), 3)
    found = check("one", z, 1.0, 6000, np.random.default_rng(2))
    assert found.mean == pytest.approx(expected_change(d), rel=0.03)
    assert found.low < found.mean < found.high < found.bound == 1 / math.sqrt(d)


def test_shares_of_the_tail_are_counted() -> None:
    blocks = [np.array([[0.4, -3.0], [1.0, 0.0]]), np.array([[-2.0, 1.6]])]
    found = measured("hand", blocks, 1.0, 1.0, 1)
    assert TAILS == (0.5, 1.0, 1.5, 2.0, 3.0)
    assert found.tails == pytest.approx([4 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6])
    assert found.mean == pytest.approx(8 / 6) and not found.holds
    assert found.tail_bounds == pytest.approx([2, 1, 2 / 3, 1 / 2, 1 / 3])


@pytest.mark.parametrize("name", FAMILIES)
def test_mean_and_tail_are_under_their_bounds_and_fall_as_they_should(name: str) -> None:
    checks = [check_family(name, d, 400) for d in DIMENSIONS]
    assert all(one.holds for one in checks)
    if name in CONSTANT:
        assert slope(checks) == pytest.approx(-0.5, abs=0.05)
    if name == "norms that grow":
        assert slope(checks) > 0.4  # the bound grows with them


def test_points_are_uniform_on_the_sphere_and_come_in_blocks() -> None:
    blocks = list(sphere(4, 5000, np.random.default_rng(3), width=1 << 20))
    points = np.concatenate(blocks)
    assert len(blocks) == 2500 and points.shape == (5000, 4)
    assert np.linalg.norm(points, axis=1) == pytest.approx(np.ones(5000))
    assert points.mean(axis=0) == pytest.approx(np.zeros(4), abs=0.03)
    assert points.T @ points / 5000 == pytest.approx(np.eye(4) / 4, abs=0.02)


def test_a_rotation_is_orthogonal_and_uniform() -> None:
    matrix = rotate(np.eye(7), np.random.default_rng(4))
    assert matrix.T @ matrix == pytest.approx(np.eye(7), abs=1e-12)
    rng = np.random.default_rng(5)
    images = np.array([rotate(np.eye(3)[:, :1], rng)[:, 0] for _ in range(3000)])
    assert images.mean(axis=0) == pytest.approx(np.zeros(3), abs=0.05)
    assert images.T @ images / 3000 == pytest.approx(np.eye(3) / 3, abs=0.03)


def test_norms_and_the_worst_perturbation_are_those_of_the_whole_decomposition() -> None:
    rng = np.random.default_rng(6)
    w_q, w_k = rng.standard_normal((2, 12, 5))
    largest = np.linalg.svd(w_q @ w_k.T)[1][0]
    worst = worst_perturbation(w_q, w_k)
    assert np.linalg.norm(worst) == pytest.approx(1)
    assert np.linalg.norm(w_q @ (w_k.T @ worst)) == pytest.approx(largest)
    assert largest <= norms(w_q, w_k)
    wide = rng.standard_normal((520, 600))
    assert spectral_norm(wide, rng) == pytest.approx(np.linalg.norm(wide, 2), rel=1e-3)
