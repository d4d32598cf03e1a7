"""Draw churches and towers, 64 × 64 in colour, into a folder with a sub-folder for each class.

    python scripts/draw_buildings.py FOLDER [--count 2000] [--seed 0]

They take the place of photographs for the residual generator: simple, but varied in light, colours,
sizes and places, so that there is something to learn. The same seed draws the same pictures:

    brittle train WGAN-residual --data FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brittle.picture import png

SIDE = 64
SCALE = 2  # drawn larger, then averaged, for smooth edges
Canvas = NDArray[np.float64]
Colour = NDArray[np.float64]
Rng = np.random.Generator
FINE = SIDE * SCALE
ROW, COLUMN = np.mgrid[0:FINE, 0:FINE] / SCALE + 0.5 / SCALE


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=2000, help="pictures of each class")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for number, (name, draw) in enumerate(CLASSES.items()):
        folder = args.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        for n in range(args.count):
            rng = np.random.default_rng([args.seed, number, n])
            (folder / f"{n:05d}.png").write_bytes(png(picture(draw, rng)))
    print(f"{args.count} pictures each of {', '.join(CLASSES)} in {args.folder}")


def picture(draw: Callable[[Canvas, Rng], None], rng: Rng) -> NDArray[np.uint8]:
    """Draw a landscape with one building in it, in the light of some hour."""
    canvas = landscape(rng)
    draw(canvas, rng)
    light = rng.uniform(0.75, 1.1) * rng.uniform(0.92, 1.08, 3)
    small = canvas.reshape(SIDE, SCALE, SIDE, SCALE, 3).mean(axis=(1, 3))
    noisy = small * light + rng.normal(0, 0.012, small.shape)
    return np.rint(255 * noisy.clip(0, 1)).astype(np.uint8)


def landscape(rng: Rng) -> Canvas:
    """Draw a sky with a few clouds, and the ground below it."""
    top, low = rng.uniform([0.2, 0.4, 0.65], [0.5, 0.65, 0.95]), rng.uniform(0.7, 0.95, 3)
    share = (ROW / SIDE)[:, :, None]
    canvas = top * (1 - share) + low * share
    for _ in range(rng.integers(0, 4)):
        place, size = rng.uniform([4, 0], [24, SIDE]), rng.uniform([2, 6], [5, 16])
        inside = ((ROW - place[0]) / size[0]) ** 2 + ((COLUMN - place[1]) / size[1]) ** 2 < 1
        canvas[inside] = 0.5 * canvas[inside] + 0.5 * rng.uniform(0.85, 1.0)
    horizon = rng.uniform(50, 58)
    hills = horizon + rng.uniform(0, 3) * np.sin(COLUMN / rng.uniform(6, 14) + rng.uniform(0, 6))
    canvas[hills < ROW] = rng.uniform([0.15, 0.3, 0.1], [0.45, 0.55, 0.3])
    return canvas


def church(canvas: Canvas, rng: Rng) -> None:
    """Draw a nave with a pitched roof, and a steeple with a spire and a cross beside it."""
    wall, roof = rng.uniform(0.5, 0.95, 3), rng.uniform([0.3, 0.12, 0.1], [0.6, 0.3, 0.3])
    ground, left = rng.uniform(54, 59), rng.uniform(6, 16)
    width, height = rng.uniform(26, 36), rng.uniform(14, 20)
    eaves = ground - height
    box(canvas, eaves, ground, left, left + width, wall)
    triangle(canvas, eaves - rng.uniform(7, 12), eaves, left - 1, left + width + 1, roof)
    windows(canvas, eaves + 4, eaves + 9, left + 3, left + width - 3, rng.integers(2, 5), rng)
    broad = rng.uniform(7, 11)
    start = left + width - broad / 2 if rng.random() < 0.5 else left - broad / 2
    belfry = eaves - rng.uniform(6, 12)
    box(canvas, belfry, ground, start, start + broad, wall * rng.uniform(0.8, 0.95))
    tip = belfry - rng.uniform(10, 16)
    triangle(canvas, tip, belfry, start - 0.5, start + broad + 0.5, roof)
    middle = start + broad / 2
    cross = rng.uniform(0.05, 0.3, 3)
    box(canvas, tip - 5, tip + 1, middle - 0.5, middle + 0.5, cross)
    box(canvas, tip - 4, tip - 3, middle - 1.75, middle + 1.75, cross)
    arch(canvas, ground - 7, ground, middle - 2, middle + 2, rng.uniform(0.1, 0.3, 3))


def tower(canvas: Canvas, rng: Rng) -> None:
    """Draw one tall wall that narrows upwards, with battlements, a cone, or a dome on it."""
    wall = rng.uniform([0.4, 0.35, 0.3], [0.85, 0.8, 0.75])
    ground, middle = rng.uniform(54, 60), rng.uniform(22, 42)
    half, top = rng.uniform(5, 10), rng.uniform(14, 24)
    narrowing = rng.uniform(0.0, 0.35)
    reach = half * (1 - narrowing * (ground - ROW) / (ground - top))
    inside = (top < ROW) & (ground > ROW) & (np.abs(COLUMN - middle) < reach)
    side = (1 - 0.25 * ((COLUMN - middle) / half).clip(-1, 1))[:, :, None]
    canvas[inside] = (side * wall)[inside]
    upper = half * (1 - narrowing) + 1
    cap = rng.uniform(0.2, 0.6, 3)
    kind = rng.integers(3)
    if kind == 0:
        box(canvas, top - 2, top, middle - upper, middle + upper, wall * 0.9)
        for start in np.arange(middle - upper, middle + upper - 1, 4):
            box(canvas, top - 5, top - 2, start, start + 2, wall * 0.9)
    elif kind == 1:
        triangle(canvas, top - rng.uniform(6, 12), top, middle - upper, middle + upper, cap)
    else:
        dome = ((ROW - top) / rng.uniform(4, 8)) ** 2 + ((COLUMN - middle) / upper) ** 2 < 1
        canvas[dome & (top > ROW)] = cap
    for row in np.linspace(top + 4, ground - 12, rng.integers(2, 5)):
        arch(canvas, row, row + 4, middle - 1.2, middle + 1.2, rng.uniform(0.05, 0.25, 3))
    arch(canvas, ground - 7, ground, middle - 2, middle + 2, rng.uniform(0.05, 0.3, 3))


def windows(
    canvas: Canvas, top: float, low: float, left: float, right: float, count: int, rng: Rng
) -> None:
    """Draw a row of windows with round tops."""
    glass = rng.uniform(0.1, 0.5, 3)
    for start in np.linspace(left, right - 3, count):
        arch(canvas, top, low, start, start + 3, glass)


def box(canvas: Canvas, top: float, low: float, left: float, right: float, colour: Colour) -> None:
    canvas[(top < ROW) & (low > ROW) & (left < COLUMN) & (right > COLUMN)] = colour


def triangle(
    canvas: Canvas, top: float, low: float, left: float, right: float, colour: Colour
) -> None:
    middle, half = (left + right) / 2, (right - left) / 2
    reach = half * (ROW - top) / (low - top)
    canvas[(top < ROW) & (low > ROW) & (np.abs(COLUMN - middle) < reach)] = colour


def arch(canvas: Canvas, top: float, low: float, left: float, right: float, colour: Colour) -> None:
    middle, half = (left + right) / 2, (right - left) / 2
    box(canvas, top + half, low, left, right, colour)
    canvas[(ROW - top - half) ** 2 + (COLUMN - middle) ** 2 < half**2] = colour


CLASSES = {"church": church, "tower": tower}


if __name__ == "__main__":
    main()
