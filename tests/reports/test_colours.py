"""The colours of heat maps are read by lightness, and equal steps look equal."""

from __future__ import annotations

import numpy as np
import pytest

from brittle.reports.axes import DARK_STOPS, LIGHT_STOPS, ink_on, oklab, ramp
from brittle.reports.heat_map import LEVELS


def test_known_points_of_oklab() -> None:
    white, red = oklab(["#ffffff", "#ff0000"])
    np.testing.assert_allclose(white, [1, 0, 0], atol=1e-4)
    np.testing.assert_allclose(red, [0.628, 0.225, 0.126], atol=1e-3)


@pytest.mark.parametrize(("stops", "sign"), [(LIGHT_STOPS, -1), (DARK_STOPS, 1)])
def test_lightness_goes_one_way_in_equal_steps(stops: tuple[str, ...], sign: int) -> None:
    colours = oklab(ramp(LEVELS, stops))
    steps = np.diff(colours, axis=0)
    assert (sign * steps[:, 0] > 0).all()
    lengths = np.linalg.norm(steps, axis=1)
    assert lengths.max() < 1.3 * lengths.min()  # a channel has only 8 bits


def test_numbers_can_be_read_on_every_colour() -> None:
    def luminance(colour: str) -> float:
        channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        light = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(light @ [0.2126, 0.7152, 0.0722])

    for colour in [*ramp(LEVELS, LIGHT_STOPS), *ramp(LEVELS, DARK_STOPS)]:
        ink = ink_on(colour)
        low, high = sorted([luminance(colour), luminance("#" + "".join(2 * c for c in ink[1:]))])
        assert (high + 0.05) / (low + 0.05) >= 4.5, colour
