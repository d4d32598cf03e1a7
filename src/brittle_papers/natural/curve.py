"""Data on a curve: the natural adversary of a point beside the nearest one (Appendix A).

The data is a U in the unit square, with a little noise. A horizontal line divides it: what lies
above is one class, what lies below the other. Straight up from the bottom of the U there is no
data. A small GAN and its inverter are trained on the curve by the steps of the picture generators,
each point as a picture of two pixels, and the attack natural searches their latent space.

This file needs torch where it trains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.attacks.natural import Hybrid, Natural
from brittle.data import as_dataset
from brittle.generators import CheckedGenerator
from brittle.picture import Picture
from brittle.results import has_adversary
from brittle.runs.runner import attack

Points = NDArray[np.float64]
LINE = 0.55
"""The height of the line between the two classes."""
NOISE = 0.012
NEAREST_STEP = 1e-3  # how far above the line the nearest adversary lies
SAMPLES, STEP, RADIUS, MISSES = 300, 0.01, 6.0, 5


def curve(position: NDArray[Any]) -> Points:
    """Return the points of the U at positions from 0, its left end, to 1, its right one.

    Both arms are straight; the bottom is half a circle.

    >>> curve(np.array([0.0, 0.5, 1.0])).round(2).tolist()
    [[0.15, 0.9], [0.5, 0.15], [0.85, 0.9]]
    """
    arm, radius, bottom = 0.4, 0.35, 0.5
    length = 2 * arm + np.pi * radius
    along = np.asarray(position, dtype=np.float64) * length
    angle = np.clip((along - arm) / radius, 0.0, np.pi)
    x = 0.5 - radius * np.cos(angle)
    y = bottom - radius * np.sin(angle)
    y += np.clip(arm - along, 0.0, None) + np.clip(along - (length - arm), 0.0, None)
    return np.stack([x, y], axis=1)


def draw_points(count: int, seed: int) -> tuple[Points, NDArray[np.float64]]:
    """Draw points of the curve with noise; return them, and their positions on it."""
    numbers = np.random.default_rng(seed)
    position = numbers.random(count)
    return curve(position) + NOISE * numbers.standard_normal((count, 2)), position


def distance_to_curve(points: Points) -> NDArray[np.float64]:
    """Compute how far points are from the curve, by the nearest of many points of it.

    >>> distance_to_curve(np.array([[0.5, 0.5]])).round(3).tolist()
    [0.35]
    """
    dense = curve(np.linspace(0.0, 1.0, 2001))
    distance = np.linalg.norm(points[:, None, :] - dense[None, :, :], axis=2)
    return np.asarray(distance.min(axis=1))


class LineClassifier:
    """A classifier of two classes: below the line, and above it."""

    name, fingerprint, item_kind = "line", f"line at {LINE}", "picture"
    labels = ("below", "above")

    def scores(self, items: Sequence[Picture]) -> NDArray[np.float64]:
        above = as_points(items)[:, 1] > LINE
        return np.stack([~above, above], axis=1).astype(np.float64)


@dataclass(frozen=True)
class CurveAdversaries:
    """Points below the line with their natural adversaries and the nearest ones, and the latent.

    `natural` has no row for a point that the search did not break; `starts` has the same rows.
    `data`, `latent` and `rebuilt` are points of the data, I(x) and G(I(x)); `position` is theirs.
    """

    data: Points
    position: NDArray[np.float64]
    latent: Points
    rebuilt: Points
    starts: Points
    natural: Points
    nearest: Points
    skipped: int


def find_adversaries(
    folder: Path, *, count: int, shown: int, steps: int, seed: int
) -> CurveAdversaries:
    """Train on the curve, or go on in the folder; search around points of its bottom."""
    from brittle_papers.natural.curve_training import train_on_curve

    generator = CheckedGenerator(train_on_curve(folder, steps, seed), "curve")
    data, position = draw_points(shown, seed + 1)
    latent = np.stack([p.vector for p in generator.encode(as_pictures(data))]).astype(np.float64)
    rebuilt = as_points(generator.decode(generator.encode(as_pictures(data))))
    starts, _ = draw_points(40 * count, seed + 2)
    starts = starts[starts[:, 1] < LINE - 0.1][:count]
    search: Any = Natural(generator, Hybrid(STEP, RADIUS, MISSES), SAMPLES)
    run = attack(
        LineClassifier(),
        as_dataset([picture.pixels for picture in as_pictures(starts)]),
        search,
        seed=seed,
        name="curve",
        folder=folder,
        progress=False,
    )
    rows = run.results()
    broken = [row for row in rows if has_adversary(row)]
    own = as_points([Picture.decode(row.original) for row in broken])
    return CurveAdversaries(
        data=data,
        position=position,
        latent=latent,
        rebuilt=rebuilt,
        starts=own,
        natural=as_points([Picture.decode(str(row.adversarial)) for row in broken]),
        nearest=np.stack([own[:, 0], np.full(len(own), LINE + NEAREST_STEP)], axis=1),
        skipped=len(rows) - len(broken),
    )


def as_pictures(points: Points) -> list[Picture]:
    """Write each point as a picture of two pixels; what is outside of the square is moved in."""
    return Picture.rows(np.clip(points, 0.0, 1.0).reshape(-1, 1, 2, 1))


def as_points(pictures: Sequence[Picture]) -> Points:
    """Read the points that pictures of two pixels stand for."""
    return np.array([picture.pixels.ravel() for picture in pictures], np.float64).reshape(-1, 2)
