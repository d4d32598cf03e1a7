"""Values on hover: every mark of a figure says what it stands for.

A value is a `title` element, which a browser shows by itself, also without JavaScript and in a file
of its own. In the report of a run, values.js shows it at once, and on a tap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from brittle.reports.axes import PlotArea
from brittle.reports.escaping import escape

MAX_ZONES = 120

Zone = tuple[float, float, str]
"""A stretch of the x axis, from here to there, and its value in words."""


def value_title(text: str) -> str:
    """Return the element that names the value of the mark it stands in."""
    return f"<title>{escape(text)}</title>"


def hover_zones(area: PlotArea, zones: Sequence[Zone]) -> str:
    """Cover a plot with invisible columns, each with its value.

    Of very many only every second, third, … is kept: what is left out belongs to the one before.
    """
    step = math.ceil(len(zones) / MAX_ZONES) or 1
    kept = zones[::step]
    ends = [*(start for start, _, _ in kept[1:]), *(end for _, end, _ in zones[-1:])]
    height = area.bottom - area.top
    return "".join(
        f'<rect class="zone" x="{area.x_at(start):.1f}" y="{area.top:.1f}" '
        f'width="{max(0.0, area.x_at(end) - area.x_at(start)):.1f}" height="{height:.1f}">'
        f"{value_title(text)}</rect>"
        for (start, _, text), end in zip(kept, ends)
    )
