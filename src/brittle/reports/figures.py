"""Figures of one run, as inline SVG: curves, the accuracy scale, bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

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
    round_ticks,
    tick_steps,
)
from brittle.reports.hover import hover_zones, value_title
from brittle.statuses import STATUSES, Status

MAX_CURVE_POINTS = 240


def curve_figure(curve: Curve, x_label: str, is_counted: bool = True, *, width: int = WIDTH) -> str:
    """Draw the share of attacked cases broken against what each cost, with its interval.

    What is not counted is measured: its axis has fractions.
    """
    make_ticks = round_ticks if is_counted else decimal_ticks
    ticks = make_ticks(curve.end, tick_steps(width))
    area = PlotArea((0.0, max(ticks[-1], 1.04 * curve.end)), x_label=x_label, width=width)
    points = _thinned(curve)
    line, band = _paths(points, curve, area)
    description = (
        f"Share of attacked cases broken against {x_label}: {percent(curve.share(curve.end))} of "
        f"{plural(curve.of, 'attacked cases')} broken by the end"
    )
    body = f'<path class="band" d="{band}"/><path class="line" d="{line}"/>'
    body += _curve_zones(points, curve, area, number if is_counted else _three_digits)
    x_ticks = [(tick, number(tick) if is_counted else f"{tick:g}") for tick in ticks]
    return draw(area, description, x_ticks, PERCENT_TICKS, body)


def scale_figure(before: Figure, after: Figure, what: str = "accuracy") -> str:
    """Draw a share before and under attack with both intervals on one scale from 0 to 100%."""
    if before.value is None or after.value is None:
        return ""
    unit = "" if what == "BLEU" else "%"
    values = [percent(figure.value).removesuffix("%") + unit for figure in (before, after)]
    parts = [
        '<svg class="scale" viewBox="0 0 420 74" role="img" aria-label="'
        f'{what} {values[0]} before, {values[1]} under attack">'
        '<path class="axis" d="M10 50H410"/>'
    ]
    outermost = {0.0: ("start", 0.0), 1.0: ("end", 420.0)}
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = 10 + 400 * share
        anchor, text_x = outermost.get(share, ("middle", x))
        parts.append(f'<path class="axis" d="M{x:.0f} 47v6"/>')
        tick = f"{100 * share:.0f}{unit}"
        parts.append(f'<text x="{text_x:.0f}" y="69" text-anchor="{anchor}">{tick}</text>')
    for figure, css, name, y in (
        (before, "before", "before", 14),
        (after, "after", "under attack", 34),
    ):
        interval = _interval(figure).replace("%", unit)
        value = percent(figure.value).replace("%", unit)
        parts.append(_whisker(figure, css, y, f"{what} {name}: {value} ({interval})"))
    return "".join(parts) + "</svg>"


def bar(share: float, value: str = "") -> str:
    """Draw a share as a thin bar that fills its cell; `value` is what it says on hover."""
    width = f"{100 * min(max(share, 0), 1):.1f}"
    return (
        '<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" '
        f'aria-hidden="true">{value_title(value) if value else ""}'
        '<rect class="track" width="100" height="6"/>'
        f'<rect class="fill" width="{width}" height="6"/></svg>'
    )


def status_bar(counts: Sequence[tuple[Status, int]]) -> str:
    """Draw how the cases ended as one stacked bar."""
    total = sum(count for _, count in counts)
    parts = [
        '<svg class="statuses" viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true">'
    ]
    x = 0.0
    for status, count in counts:
        width = 1000 * count / total
        visible = max(width - 2, 1)
        parts.append(
            f'<rect class="{STATUSES[status].css_class}" x="{x:.1f}" width="{visible:.1f}" '
            f'height="14">'
            f"{value_title(f'{status}: {number(count)} of {number(total)}')}</rect>"
        )
        x += width
    return "".join(parts) + "</svg>"


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


def _whisker(figure: Figure, css_class: str, y: int, text: str) -> str:
    low, high, value = (10 + 400 * (v or 0) for v in (figure.low, figure.high, figure.value))
    return (
        f'<g class="{css_class}">{value_title(text)}'
        f'<path d="M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 4}v8'
        f'M{high:.1f} {y - 4}v8"/><circle cx="{value:.1f}" cy="{y}" r="5.5"/></g>'
    )
