"""Figures for pages and documents: confidence curves, grids as bars, histograms, clouds of points.

Each is one SVG string; `standalone` makes a file of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from brittle.formatting import number, percent
from brittle.metrics.confidence import ConfidenceCurve
from brittle.metrics.grid import Grid
from brittle.metrics.histogram import Histogram
from brittle.metrics.intervals import wilson
from brittle.metrics.summary import Figure
from brittle.reports.axes import CHARACTER, SHARES, PlotArea, drawn, folded, nice_ticks, tone

MOST_STEPS = 160
MOST_DOTS = 2400


def confidence_figure(
    curves: Mapping[str, ConfidenceCurve], title: str = "", width: int = 420, height: int = 250
) -> str:
    """Draw success against the confidence asked for, every curve up to where it is known.

    There it ends in a dot; what lies beyond was not asked for by the run.
    """
    start = _beginning(list(curves.values()))
    names = tuple(curves) if len(curves) > 1 else ()
    across, up = "confidence asked for", "attacked cases broken"
    frame = PlotArea((start, 1.0), (0.0, 1.0), across, up, title, names, "line", 1, width, height)
    bands, lines, told = [], [], []
    for n, (name, curve) in enumerate(curves.items()):
        steps = list(_falling(curve, start))
        kind = tone(n, len(curves))
        bands.append(f'<path class="band{kind}" d="{_band(frame, curve, steps)}"/>')
        lines.append(f'<path class="line{kind}" d="{_stairs(frame, curve, steps)}"/>')
        x, y = frame.across_at(curve.known), frame.up_at(curve.share(curve.known) or 0)
        lines.append(f'<circle class="fill{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>')
        at = f"{percent(curve.share(curve.known))} at confidence {curve.known:.2g}"
        told.append(f"{name}: {at}" if name else at)
    ticks = [(n / 10, f"{n / 10:.1f}") for n in range(round(10 * start), 11)]
    label = f"Attacked cases broken against the confidence asked for. {'; '.join(told)}"
    return drawn(frame, label, ticks, SHARES, "".join(bands + lines))


def grid_figure(grid: Grid, title: str = "", width: int | None = None, height: int = 280) -> str:
    """Draw the accuracy of every target, clean and under every attack, as grouped bars.

    Whiskers are 95% intervals. A star marks a bar over other examples than most runs are.
    """
    groups = ("clean", *grid.attacks)
    longest = max(len(piece) for name in groups for piece in name.replace("-", "- ").split())
    group = max(52, 16 * len(grid.targets) + 14, min(100, CHARACTER * longest + 8))
    width = width or max(420, round(80 + group * len(groups)))
    room = (width - 80) / len(groups) - 4
    labels = ["\n".join(folded(name, room)) for name in groups]
    lines = max(label.count("\n") + 1 for label in labels)
    across = "* over other examples than the rest" if grid.uneven else ""
    ends = (0.0, float(len(groups)))
    legend = grid.targets if len(grid.targets) > 1 else ()
    frame = PlotArea(
        ends, (0.0, 1.0), across, "accuracy", title, legend, "fill", lines, width, height
    )
    thick = 0.76 / max(1, len(grid.targets))
    body, told = [], []
    for n, target in enumerate(grid.targets):
        for place, attack in enumerate(groups):
            figure = grid.cells.get((target, attack)) if place else grid.clean[target]
            if figure is None or figure.value is None:
                continue
            x = place + 0.12 + thick * n
            body.append(_bar(frame, x, thick, figure, tone(n, len(grid.targets))))
            told.append(f"{target}, {attack}: {percent(figure.value)}")
            if place and (target, attack) in grid.uneven:
                y = frame.up_at(figure.high or 0) - 4
                at = f'x="{frame.across_at(x + thick / 2):.1f}" y="{y:.1f}"'
                body.append(f'<text {at} text-anchor="middle">*</text>')
    ticks = [(place + 0.5, label) for place, label in enumerate(labels)]
    return drawn(frame, f"Accuracy. {'; '.join(told)}", ticks, SHARES, "".join(body))


def histogram_figure(
    histogram: Histogram,
    across: str = "words changed",
    up: str = "broken cases",
    title: str = "",
    width: int = 420,
    height: int = 250,
) -> str:
    """Draw how many values fall into each bin."""
    bins = histogram.bins
    most = max((b.count for b in bins), default=0)
    heights = nice_ticks(most, 5)
    ends = (0.0, float(max(1, len(bins))))
    ceiling = (0.0, float(heights[-1]))
    frame = PlotArea(ends, ceiling, across, up, title, (), "fill", 1, width, height)
    body = []
    for n, b in enumerate(bins):
        wide = min(40.0, frame.across_at(0.84) - frame.across_at(0))
        x, y = frame.across_at(n + 0.5) - wide / 2, frame.up_at(b.count)
        size = f'width="{wide:.1f}" height="{frame.bottom - y:.1f}"'
        body.append(f'<rect class="fill" x="{x:.1f}" y="{y:.1f}" {size}/>')
    every = math.ceil(len(bins) / (12 if histogram.width == 1 else 6)) or 1
    labels = [number(b.low) if b.low == b.high else f"{b.low}–{b.high}" for b in bins]
    x_ticks = [(n + 0.5, label) for n, label in enumerate(labels)][::every]
    y_ticks = [(float(tick), number(tick)) for tick in heights]
    told = "; ".join(f"{label}: {b.count}" for label, b in zip(labels, bins) if b.count)
    return drawn(frame, f"{up} by {across}. {told}", x_ticks, y_ticks, "".join(body))


def scatter_figure(
    clouds: Mapping[str, Sequence[tuple[float, float]]],
    across: str = "first component",
    up: str = "second component",
    title: str = "",
    width: int = 420,
    height: int = 360,
    most: int = MOST_DOTS,
) -> str:
    """Draw points of several classes, at most so many of them in all, drawn by lot.

    The lot is always the same, and every class keeps its part of the whole.
    """
    total = sum(len(points) for points in clouds.values())
    kept = {name: _drawn_by_lot(points, most, total) for name, points in clouds.items()}
    every = [point for points in kept.values() for point in points]
    x, y = _reach([p[0] for p in every]), _reach([p[1] for p in every])
    frame = PlotArea(x, y, across, up, title, tuple(clouds), "dot", 1, width, height)
    layers: list[tuple[float, str]] = []
    for n, points in enumerate(kept.values()):
        # In slices, so that no class lies wholly above another.
        for part in range(8):
            dots = "".join(
                f"M{frame.across_at(a):.1f} {frame.up_at(b):.1f}h0" for a, b in points[part::8]
            )
            if dots:
                layers.append((part, f'<path class="dots{tone(n, len(clouds))}" d="{dots}"/>'))
    layers.sort(key=lambda layer: layer[0])
    shown = f" ({number(len(every))} of {number(total)} points)" if len(every) < total else ""
    counts = ", ".join(f"{name}: {number(len(points))}" for name, points in clouds.items())
    told = f"{up} against {across}{shown}. Points of {counts}"
    return drawn(frame, told, _marks(x), _marks(y), "".join(path for _, path in layers))


def _beginning(curves: Sequence[ConfidenceCurve]) -> float:
    """Begin the axis where the first curve falls, and leave every curve some length."""
    falls = [curve.reached[0] for curve in curves if curve.reached]
    ends = [max(0.0, curve.known - 0.4) for curve in curves]
    return math.floor(10 * min(falls + ends, default=0.0) + 1e-9) / 10


def _falling(curve: ConfidenceCurve, start: float) -> Iterator[tuple[float, float, int]]:
    """Cut a curve into level pieces: from, to, and how many cases it counts there."""
    edges = sorted({c for c in curve.reached if start <= c < curve.known})
    edges = edges[:: math.ceil(len(edges) / MOST_STEPS) or 1]
    begin = start
    for edge in [*edges, curve.known]:
        yield begin, edge, curve.at_least(edge)
        begin = edge


def _stairs(
    frame: PlotArea, curve: ConfidenceCurve, steps: Sequence[tuple[float, float, int]]
) -> str:
    heights = [frame.up_at(count / curve.of if curve.of else 0) for _, _, count in steps]
    line = f"M{frame.across_at(steps[0][0]):.1f} {heights[0]:.1f}"
    for (_, end, _), y in zip(steps, heights):
        line += f"V{y:.1f}H{frame.across_at(end):.1f}"
    return line


def _band(
    frame: PlotArea, curve: ConfidenceCurve, steps: Sequence[tuple[float, float, int]]
) -> str:
    if not curve.of:
        return ""
    upper, lower = "", []
    for begin, end, count in steps:
        low, high = wilson(count, curve.of)
        here, there = frame.across_at(begin), frame.across_at(end)
        upper += f"L{here:.1f} {frame.up_at(high):.1f}H{there:.1f}"
        lower.append(f"L{there:.1f} {frame.up_at(low):.1f}H{here:.1f}")
    return "M" + upper[1:] + "".join(reversed(lower)) + "Z"


def _bar(frame: PlotArea, x: float, thick: float, figure: Figure, kind: str) -> str:
    left, right = frame.across_at(x + 0.04 * thick), frame.across_at(x + 0.96 * thick)
    y, low, high = (frame.up_at(v or 0) for v in (figure.value, figure.low, figure.high))
    size = f'width="{right - left:.1f}" height="{frame.bottom - y:.1f}"'
    middle = (left + right) / 2
    return (
        f'<rect class="fill{kind}" x="{left:.1f}" y="{y:.1f}" {size}/>'
        f'<path class="whisker" d="M{middle:.1f} {low:.1f}V{high:.1f}"/>'
    )


def _drawn_by_lot(
    points: Sequence[tuple[float, float]], most: int, total: int
) -> list[tuple[float, float]]:
    rng = Random(0)
    share = len(points) if total <= most else max(1, most * len(points) // total)
    return rng.sample(list(points), min(share, len(points)))


def _reach(values: Sequence[float]) -> tuple[float, float]:
    """Give an axis a little more room than the values take."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


def _marks(ends: tuple[float, float]) -> list[tuple[float, str]]:
    """Choose round numbers inside an axis that may begin anywhere."""
    low, high = ends
    size = 10.0 ** math.floor(math.log10((high - low) / 5))
    step = next(size * m for m in (1, 2, 5, 10) if size * m * 5 >= high - low)
    marks = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [(n * step, f"{n * step:.4g}") for n in marks]
