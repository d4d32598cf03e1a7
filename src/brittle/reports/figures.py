"""Figures of one run, as inline SVG: curves, the accuracy scale, bars."""

from __future__ import annotations

import math
from collections.abc import Sequence

from brittle.asks import Status
from brittle.formatting import number, percent
from brittle.metrics.curves import Curve
from brittle.metrics.intervals import wilson
from brittle.metrics.summary import Figure
from brittle.reports.axes import SHARES, PlotArea, drawn, nice_ticks

MOST_POINTS = 240


def curve_figure(curve: Curve, axis: str) -> str:
    """Draw the share of attacked cases broken against what each cost, with its interval."""
    ticks = nice_ticks(curve.end)
    frame = PlotArea((0.0, max(ticks[-1], 1.04 * curve.end, 1)), across=axis)
    line, band = _paths(_thinned(curve), curve, frame)
    told = (
        f"{percent(curve.share(curve.end))} of {number(curve.of)} attacked cases broken by the end"
    )
    body = f'<path class="band" d="{band}"/><path class="line" d="{line}"/>'
    x_ticks = [(tick, number(tick)) for tick in ticks]
    label = f"Share of attacked cases broken against {axis}: {told}"
    return drawn(frame, label, x_ticks, SHARES, body)


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


def css_class(status: Status) -> str:
    """Return the class of the style sheet that colours a status.

    >>> css_class("out of budget")
    'is-out-of-budget'
    """
    return "is-" + status.replace(" ", "-")


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
        parts.append(
            f'<rect class="{css_class(status)}" x="{at:.1f}" width="{shown:.1f}" height="14"/>'
        )
        at += width
    return "".join(parts) + "</svg>"


def _thinned(curve: Curve) -> Sequence[tuple[int, int]]:
    """Keep enough points that no eye sees the difference, always with the first and the last."""
    step = math.ceil(len(curve.points) / MOST_POINTS) or 1
    kept = list(curve.points[::step])
    if curve.points and kept[-1] != curve.points[-1]:
        kept.append(curve.points[-1])
    return kept


def _paths(points: Sequence[tuple[int, int]], curve: Curve, frame: PlotArea) -> tuple[str, str]:
    """Trace the stepped curve, and around it the pointwise Wilson band."""
    across, up = frame.across_at, frame.up_at
    if not points or not curve.of:
        return f"M{frame.left} {up(0):.1f}H{frame.right}", ""
    line = [f"M{across(0):.1f} {up(0):.1f}"]
    upper, lower = [f"M{across(points[0][0]):.1f} {up(0):.1f}"], []
    for (x, broken), (following, _) in zip(points, [*points[1:], (curve.end, 0)]):
        low, high = wilson(broken, curve.of)
        here, there = across(x), across(max(following, x))
        line.append(f"H{here:.1f}V{up(broken / curve.of):.1f}")
        upper.append(f"L{here:.1f} {up(high):.1f}H{there:.1f}")
        lower.append(f"L{there:.1f} {up(low):.1f}H{here:.1f}")
    line.append(f"H{across(curve.end):.1f}")
    return "".join(line), "".join(upper) + "".join(reversed(lower)) + "Z"


def _whisker(figure: Figure, kind: str, y: int) -> str:
    low, high, value = (10 + 400 * (v or 0) for v in (figure.low, figure.high, figure.value))
    return (
        f'<g class="{kind}"><path d="M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 4}v8'
        f'M{high:.1f} {y - 4}v8"/><circle cx="{value:.1f}" cy="{y}" r="5.5"/></g>'
    )
