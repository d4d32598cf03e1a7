"""Data on a curve: the natural adversary stays near it, the nearest one does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from brittle_papers.natural.curve import (
    LINE,
    NOISE,
    CurveAdversaries,
    as_pictures,
    as_points,
    curve,
    distance_to_curve,
    draw_points,
    find_adversaries,
)


def test_the_curve_is_traced_at_one_speed_and_points_lie_on_it() -> None:
    points = curve(np.linspace(0, 1, 1001))
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert steps.max() / steps.min() < 1.01
    assert distance_to_curve(points).max() < 1e-3
    data, position = draw_points(500, seed=3)
    assert np.allclose(
        np.linalg.norm(data - curve(position), axis=1).mean(), 1.2533 * NOISE, rtol=0.2
    )
    assert distance_to_curve(data).mean() < 1.5 * NOISE


def test_points_are_pictures_of_two_pixels() -> None:
    points = np.array([[0.25, 0.5], [1.5, -1.0]])
    assert as_points(as_pictures(points)).tolist() == [[0.25, 0.5], [1.0, 0.0]]


def arrays(found: CurveAdversaries) -> list[list[list[float]]]:
    return [found.latent.tolist(), found.natural.tolist(), found.nearest.tolist()]


def test_the_same_seed_gives_the_same_adversaries(tmp_path: Path) -> None:
    first, second = (
        find_adversaries(tmp_path / name, count=3, shown=10, steps=8, seed=1) for name in "ab"
    )
    assert arrays(first) == arrays(second)
    again = find_adversaries(tmp_path / "a", count=3, shown=10, steps=8, seed=1)
    assert arrays(again) == arrays(first)  # from the checkpoint and the stored run


@pytest.mark.slow
def test_the_natural_adversary_stays_nearer_to_the_data_than_the_nearest(tmp_path: Path) -> None:
    found = find_adversaries(tmp_path, count=30, shown=300, steps=600, seed=0)
    assert len(found.natural) > 25
    assert (found.natural[:, 1] > LINE).all() and (found.starts[:, 1] < LINE).all()
    assert (found.nearest[:, 0] == found.starts[:, 0]).all()
    natural, nearest = (distance_to_curve(p) for p in (found.natural, found.nearest))
    middle = np.abs(found.starts[:, 0] - 0.5) < 0.2  # above them lies nothing but empty space
    assert middle.sum() >= 5
    assert natural[middle].mean() < 0.5 * nearest[middle].mean()
    # In the plane the nearest is nearer, of course.
    lengths = [np.linalg.norm(p - found.starts, axis=1) for p in (found.natural, found.nearest)]
    assert (lengths[0] >= lengths[1] - 2e-3).all()
    assert np.linalg.norm(found.rebuilt - found.data, axis=1).mean() < 0.06
