"""Figures of one run, as inline SVG: curves and bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brittle.formatting import number, percent, plural
from brittle.metrics.curves import Curve
from brittle.metrics.summary import Figure, rate
from brittle.reports.axes import (
    PERCENT_TICKS,
    WIDTH,
    PlotArea,
    band_path,
    decimal_ticks,
    draw,
    hover_zones,
    round_ticks,
    tick_steps,
)
from brittle.reports.page import draw_part

if TYPE_CHECKING:
    from markupsafe import Markup

MAX_CURVE_POINTS = 240


def curve_figure(curve: Curve, x_label: str, is_counted: bool = True, *, width: int = WIDTH) -> str:
    """Draw the share of attacked cases broken against what each cost, with its interval.

    What is not counted is measured: its axis has fractions. The axis ends where the curve does.
    """
    make_ticks = round_ticks if is_counted else decimal_ticks
    end = curve.end if curve.end > 0 else 1.0
    ticks = [tick for tick in make_ticks(end, tick_steps(width)) if tick <= end]
    area = PlotArea((0.0, end), x_label=x_label, width=width)
    points = _thinned(curve)
    line, band = _paths(points, curve, area)
    last = f", the last at {number(curve.points[-1][0])}" if curve.points else ""
    description = (
        f"Share of attacked cases broken against {x_label}: {percent(curve.share(curve.end))} of "
        f"{plural(curve.of, 'attacked cases')} broken{last}"
    )
    body = f'<path class="band" d="{band}"/><path class="line" d="{line}"/>'
    body += _curve_zones(points, curve, area, number if is_counted else _three_digits)
    x_ticks = [(tick, number(tick) if is_counted else f"{tick:g}") for tick in ticks]
    return draw(area, description, x_ticks, PERCENT_TICKS, body)


@dataclass(frozen=True)
class Bar:
    """A share as a thin bar that fills its cell; `text` is what it says on hover."""

    share: float
    text: str = ""

    def __html__(self) -> Markup:
        return draw_part("bars.bar", self.share, self.text)


def _thinned(curve: Curve) -> Sequence[tuple[float, int]]:
    """Keep as many points as an eye can see, always with the first and the last."""
    step = math.ceil(len(curve.points) / MAX_CURVE_POINTS) or 1
    points = list(curve.points[::step])
    if curve.points and points[-1] != curve.points[-1]:
        points.append(curve.points[-1])
    return points


def _paths(points: Sequence[tuple[float, int]], curve: Curve, area: PlotArea) -> tuple[str, str]:
    """Return the paths of the stepped curve and of the pointwise Wilson band around it."""
    if not points or not curve.of:
        return f"M{area.left} {area.y_at(0):.1f}H{area.right}", ""
    line = f"M{area.x_at(0):.1f} {area.y_at(0):.1f}"
    for x, broken in points:
        line += f"H{area.x_at(x):.1f}V{area.y_at(broken / curve.of):.1f}"
    ends = [*(x for x, _ in points[1:]), curve.end]
    levels = [(x, max(end, x), broken) for (x, broken), end in zip(points, ends)]
    return f"{line}H{area.x_at(curve.end):.1f}", band_path(area, levels, curve.of)


def _curve_zones(
    points: Sequence[tuple[float, int]],
    curve: Curve,
    area: PlotArea,
    format_x: Callable[[float], str],
) -> str:
    """Cover a curve with the value of each of its levels."""
    if not curve.of:
        return ""
    zones = []
    levels = [(0.0, 0), *points]
    ends = [*(x for x, _ in points), curve.end]
    for (start, count), end in zip(levels, ends):
        share = rate(count, curve.of, "attacked cases")
        x = f"{area.x_label} ≤ {format_x(start)}"
        value = f"{percent(share.value)} broken ({_interval(share)})"
        zones.append((start, end, f"{x}: {value}, {number(count)} of {number(curve.of)}"))
    return hover_zones(area, zones)


def _three_digits(value: float) -> str:
    return f"{value:.3g}"


def _interval(figure: Figure) -> str:
    low, high = percent(figure.low), percent(figure.high)
    return f"{low.removesuffix('%')}–{high}"
