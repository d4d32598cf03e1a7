"""Colours of heat maps: equal steps look equal, and lightness alone tells them apart.

Colours are mixed in OKLab (Ottosson, 2020), in which the distance of two colours is about as large
as the difference that an eye sees. Since lightness falls from step to step, the sequence can be
read with any colour vision, and on paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Colours = NDArray[np.float64]

LIGHT_STOPS = ("#fdf6e6", "#f2b06c", "#c1452f", "#701f4b", "#241236")
DARK_STOPS = ("#332145", "#7a2450", "#c1452f", "#f0a65f", "#fdf3da")
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def ramp(levels: int, stops: Sequence[str]) -> list[str]:
    """Return that many colours at equal distances along the line through the stops.

    >>> ramp(3, ("#000000", "#ffffff"))
    ['#000000', '#636363', '#ffffff']
    """
    points = oklab(stops)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    distance = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.linspace(0, distance[-1], levels)
    return _hexadecimal(np.stack([np.interp(at, distance, axis) for axis in points.T], axis=1))


def oklab(colours: Sequence[str]) -> Colours:
    """Convert colours such as #c1452f; a row is lightness, green to red, blue to yellow."""
    lab: Colours = np.cbrt(_linear(colours) @ _TO_CONES.T) @ _TO_LAB.T
    return lab


def ink_on(colour: str) -> str:
    """Return the ink, black or white, that has the higher contrast on a colour.

    >>> ink_on("#fdf6e6"), ink_on("#701f4b")
    ('#000', '#fff')
    """
    luminance = float((_linear([colour]) @ np.array([0.2126, 0.7152, 0.0722]))[0])
    dark, white = (luminance + 0.05) / 0.05, 1.05 / (luminance + 0.05)
    return "#000" if dark > white else "#fff"


def _linear(colours: Sequence[str]) -> Colours:
    """Convert colours to red, green and blue light without the gamma of screens."""
    rows = [[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in colours]
    srgb = np.array(rows)
    linear: Colours = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return linear


def _hexadecimal(lab: Colours) -> list[str]:
    cones = lab @ np.linalg.inv(_TO_LAB).T
    light = np.clip(cones**3 @ np.linalg.inv(_TO_CONES).T, 0, 1)
    srgb = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return ["#" + "".join(f"{round(255 * c):02x}" for c in row) for row in srgb.tolist()]
