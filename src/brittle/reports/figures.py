"""Figures for the page, as inline SVG: curves, the accuracy scale, bars.

Only presentation attributes and classes are used: the page's content policy forbids inline styles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from brittle.asks import Status
from brittle.metrics.curves import Curve
from brittle.metrics.intervals import wilson
from brittle.metrics.summary import Figure
from brittle.reports.summaries import escaped
from brittle.reports.wording import number, percent

WIDTH, HEIGHT = 420, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 12, 44
MOST_POINTS = 240


def curve_figure(curve: Curve, axis: str) -> str:
    """Draw the share of attacked cases won against what each cost, with its interval."""
    ticks = nice_ticks(curve.end)
    end = max(ticks[-1], 1.04 * curve.end, 1)
    across, down = _scales(end)
    points = _thinned(curve)
    line, band = _paths(points, curve, across, down)
    told = f"{percent(curve.share(curve.end))} of {number(curve.of)} attacked cases won by the end"
    parts = [
        f'<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Share of attacked cases won against {escaped(axis)}: {escaped(told)}">'
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = down(share)
        style = "axis" if share == 0 else "grid"
        parts.append(f'<path class="{style}" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    for tick in ticks:
        x = across(tick)
        parts.append(f'<path class="axis" d="M{x:.1f} {HEIGHT - BOTTOM}v4"/>')
        label = f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
        parts.append(f"{label}{number(tick)}</text>")
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text class="title" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">'
        f"{escaped(axis)}</text>"
    )
    parts.append(f'<path class="band" d="{band}"/><path class="line" d="{line}"/></svg>')
    return "".join(parts)


def nice_ticks(end: float, most: int = 6) -> list[int]:
    """Choose whole numbers from 0 that cover an axis in steps people count in.

    >>> nice_ticks(7), nice_ticks(430)
    ([0, 2, 4, 6, 8], [0, 100, 200, 300, 400, 500])
    """
    if end <= most:
        return list(range(max(1, math.ceil(end)) + 1))
    size: float = 10 ** math.floor(math.log10(end / most))
    step = next(int(size * m) for m in (1, 2, 5, 10) if int(size * m) * most >= end)
    return list(range(0, math.ceil(end / step) * step + 1, step))


def scale_figure(before: Figure, after: Figure) -> str:
    """Draw both accuracies with their intervals on one scale from 0 to 100%."""
    if before.value is None or after.value is None:
        return ""
    parts = [
        '<svg class="scale" viewBox="0 0 420 74" role="img" aria-label="'
        f'Accuracy {percent(before.value)} before, {percent(after.value)} under attack">'
    ]
    parts.append('<path class="axis" d="M10 50H410"/>')
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = 10 + 400 * share
        anchor = "start" if share == 0 else "end" if share == 1 else "middle"
        at = 0 if share == 0 else 420 if share == 1 else x
        parts.append(f'<path class="axis" d="M{x:.0f} 47v6"/>')
        parts.append(f'<text x="{at:.0f}" y="69" text-anchor="{anchor}">{share:.0%}</text>')
    parts.append(_whisker(before, "before", 14) + _whisker(after, "after", 34) + "</svg>")
    return "".join(parts)


def bar(share: float, kind: str = "") -> str:
    """Draw a share as a thin bar that fills its place."""
    width = f"{100 * min(max(share, 0), 1):.1f}"
    return (
        f'<svg class="bar {kind}" viewBox="0 0 100 6" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect class="track" width="100" height="6"/>'
        f'<rect class="fill" width="{width}" height="6"/></svg>'
    )


def status_bar(counts: Sequence[tuple[Status, int]]) -> str:
    """Draw how the cases ended as one stacked bar."""
    total = sum(count for _, count in counts)
    parts = [
        '<svg class="statuses" viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true">'
    ]
    at = 0.0
    for status, count in counts:
        width = 1000 * count / total
        shown = max(width - 2, 1)
        parts.append(f'<rect class="is-{status}" x="{at:.1f}" width="{shown:.1f}" height="14"/>')
        at += width
    return "".join(parts) + "</svg>"


def _scales(end: float) -> tuple[_Scale, _Scale]:
    return (
        _Scale(LEFT, (WIDTH - LEFT - RIGHT) / end),
        _Scale(HEIGHT - BOTTOM, -(HEIGHT - BOTTOM - TOP)),
    )


class _Scale:
    """A linear map from values to the figure's units."""

    def __init__(self, origin: float, unit: float) -> None:
        self.origin, self.unit = origin, unit

    def __call__(self, value: float) -> float:
        return self.origin + self.unit * value


def _thinned(curve: Curve) -> Sequence[tuple[int, int]]:
    """Keep enough points that no eye sees the difference, always with the first and the last."""
    step = math.ceil(len(curve.points) / MOST_POINTS) or 1
    kept = list(curve.points[::step])
    if curve.points and kept[-1] != curve.points[-1]:
        kept.append(curve.points[-1])
    return kept


def _paths(
    points: Sequence[tuple[int, int]], curve: Curve, across: _Scale, down: _Scale
) -> tuple[str, str]:
    """Trace the stepped curve, and around it the pointwise Wilson band."""
    if not points or not curve.of:
        return f"M{LEFT} {down(0):.1f}H{WIDTH - RIGHT}", ""
    line = [f"M{across(0):.1f} {down(0):.1f}"]
    upper, lower = [f"M{across(points[0][0]):.1f} {down(0):.1f}"], []
    for (x, won), (following, _) in zip(points, [*points[1:], (curve.end, 0)]):
        low, high = wilson(won, curve.of)
        here, there = across(x), across(max(following, x))
        line.append(f"H{here:.1f}V{down(won / curve.of):.1f}")
        upper.append(f"L{here:.1f} {down(high):.1f}H{there:.1f}")
        lower.append(f"L{there:.1f} {down(low):.1f}H{here:.1f}")
    line.append(f"H{across(curve.end):.1f}")
    return "".join(line), "".join(upper) + "".join(reversed(lower)) + "Z"


def _whisker(figure: Figure, kind: str, y: int) -> str:
    low, high, value = (10 + 400 * (v or 0) for v in (figure.low, figure.high, figure.value))
    return (
        f'<g class="{kind}"><path d="M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 4}v8'
        f'M{high:.1f} {y - 4}v8"/><circle cx="{value:.1f}" cy="{y}" r="5.5"/></g>'
    )
