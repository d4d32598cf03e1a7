"""Plots of studies, and drawings as files of their own.

Ensembles of a pool: their transfer against their size. What guards still catch. Plots for pages and
documents: curves of confidence and cost, grids, histograms, scatter plots. Each is one SVG string;
`standalone_svg` makes a file of it. A plot as an SVG file of its own, with its colours inside, for
Markdown pages and papers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from brittle.errors import UsageError
from brittle.formatting import number, percent, plural
from brittle.metrics.curves import ConfidenceCurve, CostCurve
from brittle.metrics.grid import Grid
from brittle.metrics.summary import Figure
from brittle.metrics.words import Histogram
from brittle.reports.axes import (
    CHARACTER_WIDTH,
    PERCENT_TICKS,
    WIDTH,
    Level,
    PlotArea,
    band_path,
    draw,
    escape,
    fold,
    hover_zones,
    level_path,
    padded_range,
    round_ticks,
    tick_steps,
    ticks_inside,
    tone,
    value_title,
)

Points = Sequence[tuple[int, float]]
"""The size of an ensemble and its rate."""


def ensemble_figure(
    curves: Mapping[str, Points], lines: Mapping[str, float], title: str = ""
) -> str:
    """Draw a curve for every method, and level lines, each with its name written on it."""
    sizes = sorted({size for points in curves.values() for size, _ in points})
    low, high = sizes[0] - 0.4, sizes[-1] + 0.4
    legend = tuple(curves)
    area = PlotArea(
        *((low, high), (0.0, 1.0), "members of the ensemble", "texts that fool others"),
        *(title, legend, "line"),
    )
    body, values = [], []
    for name, rate in lines.items():
        y = area.y_at(rate)
        # Curves mostly run between the lines, so the name of the lowest stands below it.
        text_y = y + 14 if rate == min(lines.values()) else y - 4
        body.append(
            f'<path class="axis" stroke-dasharray="3 3" d="M{area.left} {y:.1f}H{area.right}"/>'
            f'<text x="{area.right}" y="{text_y:.1f}" text-anchor="end">{escape(name)} '
            f"{percent(rate)}</text>"
        )
        values.append(f"{name}: {percent(rate)}")
    for n, (name, points) in enumerate(curves.items()):
        colour = tone(n, len(curves))
        places = [(area.x_at(size), area.y_at(rate)) for size, rate in sorted(points)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        body.append(f'<path class="line{colour}" d="M{path}"/>')
        body += [
            f'<circle class="fill{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places
        ]
        shown = ", ".join(f"{size}: {percent(rate)}" for size, rate in sorted(points))
        values.append(f"{name}, {shown}")
    ticks = [(float(size), str(size)) for size in sizes]
    description = f"Texts that fool other models, by size of the ensemble. {'; '.join(values)}"
    return draw(area, description, ticks, PERCENT_TICKS, "".join(body))


def recall_figure(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    before: float,
    end: float,
    title: str = "",
    *,
    width: int = WIDTH,
) -> str:
    """Draw what a guard still catches against the queries for a text, under each attack.

    A curve holds (queries, recall) wherever the recall falls; all start at the recall `before`.
    """
    ticks = [tick for tick in round_ticks(end, tick_steps(width)) if tick <= max(1.0, end)]
    legend = tuple(curves) if len(curves) > 1 else ()
    labels = ("queries for each text", "recall", title)
    area = PlotArea((0.0, max(1.0, end)), (0.0, 1.0), *labels, legend, "line", width=width)
    lines, ends = [], []
    for n, (name, points) in enumerate(curves.items()):
        path = f"M{area.left} {area.y_at(before):.1f}"
        path += "".join(f"H{area.x_at(x):.1f}V{area.y_at(y):.1f}" for x, y in points)
        path += f"H{area.x_at(max(1.0, end)):.1f}"
        lines.append(f'<path class="line{tone(n, len(curves))}" d="{path}"/>')
        last = points[-1][1] if points else before
        ends.append(f"{name}: {percent(last)} after {plural(end, 'queries')}")
    description = f"Recall against queries, {percent(before)} before. {'; '.join(ends)}"
    x_ticks = [(float(tick), number(tick)) for tick in ticks]
    return draw(area, description, x_ticks, PERCENT_TICKS, "".join(lines))


MAX_LEVELS = 160
MAX_POINTS = 2400
LAYERS = 8

Point = tuple[float, float]


def confidence_figure(
    curves: Mapping[str, ConfidenceCurve], title: str = "", *, width: int = WIDTH
) -> str:
    """Draw success against the confidence asked for; a dot marks the end of what is known.

    A search stops at the confidence that its run asked for, so nothing is known beyond it, and the
    axis ends there.
    """
    start = _start(list(curves.values()))
    end = max((curve.known for curve in curves.values()), default=1.0) or 1.0
    legend = tuple(curves) if len(curves) > 1 else ()
    labels = ("confidence asked for", "attacked cases broken", title)
    area = PlotArea((start, end), (0.0, 1.0), *labels, legend, "line", width=width)
    bands, lines, ends = [], [], []
    for n, (name, curve) in enumerate(curves.items()):
        levels = _levels(curve, start)
        colour = tone(n, len(curves))
        bands.append(f'<path class="band{colour}" d="{band_path(area, levels, curve.of)}"/>')
        lines.append(f'<path class="line{colour}" d="{level_path(area, levels, curve.of)}"/>')
        x, y = area.x_at(curve.known), area.y_at(curve.share(curve.known) or 0)
        lines.append(f'<circle class="fill{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>')
        known = f"{percent(curve.share(curve.known))} at confidence {curve.known:.2g}"
        ends.append(f"{name}: {known}" if name else known)
    every = 1 if width >= WIDTH or start >= 0.5 else 2
    ticks = [
        (n / 10, f"{n / 10:.1f}") for n in range(round(10 * start), int(10 * end + 1e-9) + 1, every)
    ]
    description = f"Attacked cases broken against the confidence asked for. {'; '.join(ends)}"
    zones = "".join(_confidence_zones(area, c, start) for c in curves.values() if len(curves) == 1)
    return draw(area, description, ticks, PERCENT_TICKS, "".join(bands + lines) + zones)


def cost_figure(
    curve: CostCurve, title: str = "", *, name: str = "cost", width: int = WIDTH
) -> str:
    """Draw how the median cost of the cheapest winner falls with the queries of a case.

    The curve needs a point: more than half of its cases have a winner by the end. `name` is what
    the attack calls its costs.
    """
    costs = [cost for _, cost in curve.points]
    low, high = min(0.0, *costs), max(0.0, *costs)
    y = (low, high + (0.05 * (high - low) or 1.0))
    queries = [tick for tick in round_ticks(curve.end, tick_steps(width)) if tick <= curve.end]
    x = (0.0, float(max(1, curve.end)))
    area = PlotArea(x, y, "queries per case", f"median {name}", title, width=width)
    points = [*curve.points[:: math.ceil(len(costs) / MAX_LEVELS)], curve.points[-1]]
    first, start = points[0]
    line = f"M{area.x_at(first):.1f} {area.y_at(start):.1f}" + "".join(
        f"H{area.x_at(query):.1f}V{area.y_at(cost):.1f}" for query, cost in points[1:]
    )
    body = f'<path class="line" d="{line}H{area.x_at(curve.end):.1f}"/>'
    ends_at = [*(query for query, _ in points[1:]), curve.end]
    body += hover_zones(
        area,
        [
            (query, end, f"{plural(query, 'queries per case')}: median {name} {cost:.3g}")
            for (query, cost), end in zip(points, ends_at)
            if end > query
        ],
    )
    description = (
        f"Median {name} of the cheapest winner against queries per case: {start:.3g} at "
        f"{plural(first, 'queries')}, {costs[-1]:.3g} at {number(curve.end)}"
    )
    x_ticks = [(float(tick), number(tick)) for tick in queries]
    return draw(area, description, x_ticks, ticks_inside(y), body)


def grid_figure(grid: Grid, title: str = "") -> str:
    """Draw the accuracy of every target, clean and under every attack, as grouped bars.

    Whiskers are 95% intervals. A star marks a bar over other examples than most runs have.
    """
    groups = ("clean", *grid.attacks)
    longest = max(len(part) for name in groups for part in name.replace("-", "- ").split())
    group_width = max(52, 16 * len(grid.targets) + 14, min(100, CHARACTER_WIDTH * longest + 8))
    width = max(WIDTH, round(80 + group_width * len(groups)))
    names = ["\n".join(fold(name, (width - 80) / len(groups) - 4)) for name in groups]
    tick_lines = max(name.count("\n") + 1 for name in names)
    star = "* over other examples than the rest" if grid.uneven else ""
    legend = grid.targets if len(grid.targets) > 1 else ()
    sizes = (tick_lines, width, 280)
    area = PlotArea(
        (0.0, float(len(groups))), (0.0, 1.0), star, "accuracy", title, legend, "fill", *sizes
    )
    bar_width = 0.76 / max(1, len(grid.targets))
    bars, values = [], []
    for n, target in enumerate(grid.targets):
        for position, attack in enumerate(groups):
            figure = grid.cells.get((target, attack)) if position else grid.clean[target]
            if figure is None or figure.value is None:
                continue
            x = position + 0.12 + bar_width * n
            value = f"{target}, {attack}: {percent(figure.value)}"
            bars.append(_bar(area, x, bar_width, figure, tone(n, len(grid.targets)), value))
            values.append(value)
            if position and (target, attack) in grid.uneven:
                middle, y = area.x_at(x + bar_width / 2), area.y_at(figure.high or 0) - 4
                bars.append(f'<text x="{middle:.1f}" y="{y:.1f}" text-anchor="middle">*</text>')
    ticks = [(position + 0.5, name) for position, name in enumerate(names)]
    return draw(area, f"Accuracy. {'; '.join(values)}", ticks, PERCENT_TICKS, "".join(bars))


def histogram_figure(
    histogram: Histogram,
    x_label: str = "words changed",
    y_label: str = "broken cases",
    title: str = "",
    *,
    width: int = WIDTH,
) -> str:
    """Draw how many values fall into each bin."""
    bins = histogram.bins
    counts = round_ticks(max((b.count for b in bins), default=0), 5)
    ranges = ((0.0, float(max(1, len(bins)))), (0.0, float(counts[-1])))
    area = PlotArea(*ranges, x_label, y_label, title, width=width)
    names = [number(b.low) if b.low == b.high else f"{b.low}–{b.high}" for b in bins]
    bar_width = min(40.0, area.x_at(0.84) - area.x_at(0))
    bars = []
    for n, b in enumerate(bins):
        x, y = area.x_at(n + 0.5) - bar_width / 2, area.y_at(b.count)
        size = f'width="{bar_width:.1f}" height="{area.bottom - y:.1f}"'
        value = value_title(f"{names[n]} {x_label}: {number(b.count)} {y_label}")
        bars.append(f'<rect class="fill" x="{x:.1f}" y="{y:.1f}" {size}>{value}</rect>')
    most_names = tick_steps(width) * (2 if histogram.width == 1 else 1)
    every = math.ceil(len(bins) / most_names) or 1
    x_ticks = [(n + 0.5, name) for n, name in enumerate(names)][::every]
    y_ticks = [(float(count), number(count)) for count in counts]
    values = "; ".join(f"{name}: {b.count}" for name, b in zip(names, bins) if b.count)
    return draw(area, f"{y_label} by {x_label}. {values}", x_ticks, y_ticks, "".join(bars))


def scatter_figure(
    clouds: Mapping[str, Sequence[Point]],
    x_label: str = "first component",
    y_label: str = "second component",
    title: str = "",
    max_points: int = MAX_POINTS,
    *,
    marks: Mapping[str, Point] | None = None,
    level: float | None = None,
    is_share: bool = False,
) -> str:
    """Draw the points of several classes, or a random sample of `max_points` of them.

    The axis of x runs from 0 to 100% if x `is_share`.

    The sample is the same each time, and every class keeps its share of the whole. `marks` are
    single points that stand out, each with its name; `level` is the height of a dashed line.
    """
    marks = marks or {}
    total = sum(len(points) for points in clouds.values())
    samples = {}
    for name, cloud in clouds.items():
        share = max(1, max_points * len(cloud) // total) if total > max_points else len(cloud)
        samples[name] = Random(0).sample(list(cloud), min(share, len(cloud)))
    points = [point for sample in samples.values() for point in sample]
    ends = [*points, *marks.values()]
    x, y = padded_range([p[0] for p in ends]), padded_range([p[1] for p in ends])
    x_ticks = ticks_inside(x)
    if is_share:
        x, x_ticks = (0.0, 1.0), list(PERCENT_TICKS)
    legend = tuple(clouds) if len(clouds) > 1 else ()
    area = PlotArea(x, y, x_label, y_label, title, legend, "dot", height=360)
    layers: list[tuple[int, str]] = []
    for n, sample in enumerate(samples.values()):
        # The classes take turns, so that no class covers another one wholly.
        for layer in range(LAYERS):
            dots = "".join(
                f"M{area.x_at(a):.1f} {area.y_at(b):.1f}h0" for a, b in sample[layer::LAYERS]
            )
            if dots:
                layers.append((layer, f'<path class="dots{tone(n, len(clouds))}" d="{dots}"/>'))
    layers.sort(key=lambda entry: entry[0])
    shown = f" ({number(len(points))} of {plural(total, 'points')})" if len(points) < total else ""
    counts = ", ".join(f"{name}: {number(len(cloud))}" for name, cloud in clouds.items())
    description = f"{y_label} against {x_label}{shown}. Points of {counts}"
    body = "".join(path for _, path in layers) + _marks(area, marks, level)
    return draw(area, description, x_ticks, ticks_inside(y), body)


def _marks(area: PlotArea, marks: Mapping[str, Point], level: float | None) -> str:
    """Draw single points with their names, and a dashed line over the whole width."""
    parts = []
    if level is not None:
        line = f"M{area.left} {area.y_at(level):.1f}H{area.right}"
        parts.append(f'<path class="axis" stroke-dasharray="5 4" d="{line}"/>')
    for name, (a, b) in marks.items():
        x, y = area.x_at(a), area.y_at(b)
        parts.append(f'<circle class="whisker" fill="#ffffff" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')
        parts.append(f'<text x="{x + 8:.1f}" y="{y - 6:.1f}">{escape(name)}</text>')
    return "".join(parts)


def _start(curves: Sequence[ConfidenceCurve]) -> float:
    """Choose where the axis starts: where the first curve falls; no curve is too short to see."""
    falls = [curve.reached[0] for curve in curves if curve.reached]
    ends = [max(0.0, curve.known - 0.4) for curve in curves]
    return math.floor(10 * min(falls + ends, default=0.0) + 1e-9) / 10


def _levels(curve: ConfidenceCurve, start: float) -> list[Level]:
    """Split a falling curve into its level parts, at most about `MAX_LEVELS` of them."""
    falls = sorted({c for c in curve.reached if start <= c < curve.known})
    falls = falls[:: math.ceil(len(falls) / MAX_LEVELS) or 1]
    ends = [*falls, curve.known]
    return [(low, high, curve.at_least(high)) for low, high in zip([start, *falls], ends)]


def _confidence_zones(area: PlotArea, curve: ConfidenceCurve, start: float) -> str:
    """Cover the curve with the value of each of its levels."""
    zones = []
    for low, high, count in _levels(curve, start) if curve.of else ():
        value = f"{percent(count / curve.of)} broken, {number(count)} of {number(curve.of)}"
        zones.append((low, high, f"confidence {low:.2f} to {high:.2f}: {value}"))
    return hover_zones(area, zones)


def _bar(area: PlotArea, x: float, width: float, figure: Figure, colour: str, value: str) -> str:
    left, right = area.x_at(x + 0.04 * width), area.x_at(x + 0.96 * width)
    y, low, high = (area.y_at(v or 0) for v in (figure.value, figure.low, figure.high))
    size = f'width="{right - left:.1f}" height="{area.bottom - y:.1f}"'
    middle = (left + right) / 2
    return (
        f'<rect class="fill{colour}" x="{left:.1f}" y="{y:.1f}" {size}>{value_title(value)}</rect>'
        f'<path class="whisker" d="M{middle:.1f} {low:.1f}V{high:.1f}"/>'
    )


MARGIN = 8
_OPENING = re.compile(r'<svg (class="(?:plot|scale)") viewBox="0 0 (\d+) (\d+)"')
_NOT_IN_XML = re.compile("[\ufffe\uffff]")
_TONES = ("#33658a", "#c1452f", "#d9a441", "#7a5ea8", "#a8447f", "#8a8780")
_DASHES = ("", "7 3", "2.5 2.5", "9 3 2 3", "12 4", "4 4")
_STYLE = "".join(Path(__file__).with_name("plot.css").read_text("utf-8").splitlines()) + "".join(
    f".line.tone-{n},.dots.tone-{n}{{stroke:{tone}}}"
    f".fill.tone-{n},.band.tone-{n}{{fill:{tone}}}"
    f".line.tone-{n}{{stroke-dasharray:{_DASHES[n] or 'none'}}}"
    for n, tone in enumerate(_TONES)
)


def standalone_svg(plot: str) -> str:
    """Return a plot as the text of a file: on a white card, which is readable on any page."""
    opening = _OPENING.match(plot)
    if opening is None:
        raise UsageError(f"Got {plot[:40]!r}; expected a figure of brittle.reports.")
    width, height = (int(size) + 2 * MARGIN for size in opening.groups()[1:])
    size = f'width="{width}" height="{height}"'
    box = f'viewBox="{-MARGIN} {-MARGIN} {width} {height}"'
    attributes, body = plot[opening.end() :].split(">", 1)
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {opening[1]} {size} {box}{attributes}>'
        f'<style>{_STYLE}</style><rect x="{-MARGIN}" y="{-MARGIN}" {size} rx="8" fill="#ffffff"/>'
        f"{body}\n"
    )
    return _NOT_IN_XML.sub("\ufffd", text)
