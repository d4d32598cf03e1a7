"""Colours: text is readable in light and dark, and heat maps are read by their lightness."""

from __future__ import annotations

import re

import numpy as np
import pytest

from brittle.reports.axes import DARK_STOPS, LIGHT_STOPS, ink_on, oklab, ramp
from brittle.reports.heat_map import LEVELS
from brittle.reports.page import asset, style_sheet
from brittle.statuses import STATUSES

ENOUGH = 4.5
"""The contrast that WCAG 2 (AA) asks of text."""
SHEET = asset("report.css")
PAPERS = ("paper", "card")
TEXT_COLOURS = {
    **dict.fromkeys(("ink", "soft", "blue", "red"), PAPERS),
    **{record.tone: ("card",) for record in STATUSES.values() if record.word != "skipped"},
    "removed": ("removed-ground",),
    "inserted": ("inserted-ground",),
}
"""What text is written in, by names of variables, and what it stands on."""


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


def luminance(colour: str) -> float:
    colour = colour if len(colour) == 7 else "#" + "".join(2 * c for c in colour[1:])
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    light = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(light @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def variables(place: str) -> dict[str, str]:
    """Read the colours of a theme from the style sheet; dark and print change some of the light."""
    blocks = re.findall(r"^ *:root \{(.*?)\}", SHEET, re.DOTALL | re.MULTILINE)
    themes = dict(zip(("light", "dark", "print"), blocks, strict=True))
    return {
        name: colour
        for block in ("light", place)
        for name, colour in re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})\b", themes[block])
    }


def test_numbers_can_be_read_on_every_colour() -> None:
    for colour in [*ramp(LEVELS, LIGHT_STOPS), *ramp(LEVELS, DARK_STOPS)]:
        assert contrast(colour, ink_on(colour)) >= ENOUGH, colour


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
@pytest.mark.parametrize("name", TEXT_COLOURS)
def test_text_can_be_read(theme: str, name: str) -> None:
    colours = variables(theme)
    for ground in TEXT_COLOURS[name]:
        assert contrast(colours[name], colours[ground]) >= ENOUGH, (name, ground)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_edits_are_told_apart_with_any_colour_vision(theme: str) -> None:
    """Removed is orange and inserted is blue: they differ most along blue to yellow."""
    colours = variables(theme)
    for pair in (("removed", "inserted"), ("removed-ground", "inserted-ground")):
        (_, red_a, blue_a), (_, red_b, blue_b) = oklab([colours[name] for name in pair])
        assert blue_a > 0 > blue_b and blue_a - blue_b > abs(red_a - red_b)
    rules = dict(re.findall(r"^(del|ins) \{ (.*?) \}", SHEET, re.MULTILINE))
    assert "line-through" in rules["del"] and "underline" in rules["ins"]


def test_green_is_only_for_what_held() -> None:
    rules = re.findall(r"^([^{}\n]+)\{[^}]*var\(--green\)", style_sheet(), re.MULTILINE)
    assert [rule.strip() for rule in rules] == [".is-held"]
