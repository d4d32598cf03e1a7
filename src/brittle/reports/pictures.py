"""A picture, its reconstruction, its adversary and the difference, as images for the page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.formatting import rounded
from brittle.picture import Picture
from brittle.png import png
from brittle.reports.kept_items import reconstruction
from brittle.results import Result

BLUE, RED = np.array([0.13, 0.36, 0.75]), np.array([0.80, 0.20, 0.13])
MAX_BYTES = 24_000_000  # of images in one page; what comes after them is left out


def embedded_pictures(results: Sequence[Result]) -> list[list[Any]]:
    """Return for every row its norms and images.

    A row is [l2, largest change, images by their names], the images as PNG in base64; those of an
    adversary are missing if there is none, and all beyond a limit on the page's size. The
    difference is that of the adversary to the original.
    """
    rows: list[list[Any]] = []
    total = 0
    for result in results:
        images = _images(result) if total < MAX_BYTES else {}
        total += sum(map(len, images.values()))
        rows.append([rounded(result.l2), rounded(result.linf), images])
    return rows


def _images(result: Result) -> dict[str, str]:
    original = Picture.decode(result.original).pixels
    images = {"original": _bytes(original)}
    rebuilt = reconstruction(result)
    if rebuilt is not None:
        images["reconstruction"] = _bytes(Picture.decode(rebuilt.item).pixels)
    if result.adversarial is not None:
        adversary = Picture.decode(result.adversarial).pixels
        images["adversary"] = _bytes(adversary)
        images["difference"] = difference_image(original, adversary)
    return {name: _encoded(image) for name, image in images.items()}


def embedded_picture(encoded: str) -> str:
    """Return a stored picture as PNG in base64."""
    return _encoded(_bytes(Picture.decode(encoded).pixels))


def _encoded(image: NDArray[np.uint8]) -> str:
    return base64.b64encode(png(image)).decode("ascii")


def _bytes(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    rounded: NDArray[np.uint8] = np.rint(255 * pixels).astype(np.uint8)
    return rounded


def difference_image(
    original: NDArray[np.float32], adversary: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """Colour what became brighter blue and what became darker red; no change is white.

    The largest change of the picture has the full colour. Of several channels the mean counts.
    """
    difference = (adversary.astype(np.float64) - original).mean(axis=2)
    largest = np.abs(difference).max() or 1.0
    share = np.abs(difference)[:, :, None] / largest
    colour = np.where(difference[:, :, None] > 0, BLUE, RED)
    return _bytes(1 - share * (1 - colour))
