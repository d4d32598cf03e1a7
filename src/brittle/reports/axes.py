"""What drawings share: axes, colours, and what is shown under the pointer.

Any text made safe to show inside an SVG; templates escape by themselves. Colours of heat maps:
equal steps look equal, and lightness alone tells them apart.

Colours are mixed in OKLab (Ottosson, 2020), in which the distance of two colours is about as large
as the difference that an eye sees. Since lightness falls from step to step, the sequence can be
read with any colour vision, and on paper.

The frame of a plot: scales, axes, ticks, labels and a legend, as inline SVG. Only presentation
attributes and classes are used: the page's content policy forbids inline styles. Values on hover:
every mark of a figure says what it stands for.

A value is a `title` element, which a browser shows by itself, also without JavaScript and in a file
of its own. In the report of a run, values.js shows it at once, and on a tap.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.metrics.intervals import wilson
from brittle.redaction import visible


def escape(text: object) -> str:
    """Make any text safe in elements and in quoted attributes."""
    return html.escape(visible(str(text)))


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


WIDTH, HEIGHT = 420, 250
NARROW_WIDTH = 320  # of a plot that stands with two others in a row
TONES = 6
LINE_HEIGHT = 16
LEGEND_ROW_HEIGHT = 20
CHARACTER_WIDTH = 6.6  # a usual width in 12 px, because there is nothing to measure text with
MAX_LEGEND_CHARACTERS = 48

Tick = tuple[float, str]
Level = tuple[float, float, int]
"""A level part of a curve: from this x, to that one, so many cases."""
PERCENT_TICKS: tuple[Tick, ...] = tuple((n / 4, f"{n / 4:.0%}") for n in range(5))


@dataclass(frozen=True)
class PlotArea:
    """The area of a plot in pixels, and the texts around it.

    `x` and `y` are the ranges of the axes. An empty axis label takes no room. `legend` names the
    series in the order of their tones, each beside a `swatch`: "line", "fill" or "dot".
    `tick_lines` is how many lines the labels of the x ticks have.
    """

    x: tuple[float, float]
    y: tuple[float, float] = (0.0, 1.0)
    x_label: str = ""
    y_label: str = ""
    title: str = ""
    legend: tuple[str, ...] = ()
    swatch: str = "fill"
    tick_lines: int = 1
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def left(self) -> float:
        return 64 if self.y_label else 46

    @property
    def right(self) -> float:
        return self.width - 16

    @property
    def top(self) -> float:
        return 12 + (24 if self.title else 0) + LEGEND_ROW_HEIGHT * len(self.legend_rows)

    @property
    def bottom(self) -> float:
        return self.height - 8 - LINE_HEIGHT * self.tick_lines - (20 if self.x_label else 0)

    @property
    def legend_rows(self) -> list[list[tuple[int, float]]]:
        """Lay out the legend: every row is a list of series, each with the x of its left end."""
        rows: list[list[tuple[int, float]]] = []
        x = math.inf
        for series, name in enumerate(self.legend):
            width = 30 + CHARACTER_WIDTH * min(len(name), MAX_LEGEND_CHARACTERS) + 14
            if x + width > self.right + 14:
                rows.append([])
                x = self.left
            rows[-1].append((series, x))
            x += width
        return rows

    def x_at(self, value: float) -> float:
        """Return the horizontal position of a value, in pixels."""
        low, high = self.x
        return self.left + (self.right - self.left) * (value - low) / (high - low)

    def y_at(self, value: float) -> float:
        """Return the vertical position of a value, in pixels."""
        low, high = self.y
        return self.bottom - (self.bottom - self.top) * (value - low) / (high - low)


def draw(
    area: PlotArea, description: str, x_ticks: Sequence[Tick], y_ticks: Sequence[Tick], body: str
) -> str:
    """Draw the axes around the body of a plot; screen readers read the description."""
    parts = [
        f'<svg class="plot" viewBox="0 0 {area.width} {area.height}" role="img" '
        f'aria-label="{escape(description)}">'
    ]
    for value, label in y_ticks:
        y = area.y_at(value)
        parts.append(f'<path class="grid" d="M{area.left} {y:.1f}H{area.right}"/>')
        parts.append(_text(area.left - 8, y + 4, label, "end"))
    parts.append(f'<path class="axis" d="M{area.left} {area.bottom:.1f}H{area.right}"/>')
    for value, label in x_ticks:
        x = area.x_at(value)
        parts.append(f'<path class="axis" d="M{x:.1f} {area.bottom:.1f}v4"/>')
        for line, text in enumerate(label.split("\n")):
            parts.append(_text(x, area.bottom + 18 + LINE_HEIGHT * line, text))
    return "".join([*parts, body, *_labels(area), "</svg>"])


def band_path(area: PlotArea, levels: Sequence[Level], of: int) -> str:
    """Outline the pointwise Wilson intervals: along the upper ends, and back along the lower."""
    if not of:
        return ""
    upper, lower = "", ""
    for start, end, count in levels:
        low, high = wilson(count, of)
        left, right = area.x_at(start), area.x_at(end)
        upper += f"L{left:.1f} {area.y_at(high):.1f}H{right:.1f}"
        lower = f"L{right:.1f} {area.y_at(low):.1f}H{left:.1f}" + lower
    return f"M{upper[1:]}{lower}Z"


def level_path(area: PlotArea, levels: Sequence[Level], of: int) -> str:
    """Return the path along the level parts of a curve, which falls or rises between them."""
    heights = [area.y_at(count / of if of else 0) for _, _, count in levels]
    steps = "".join(f"V{y:.1f}H{area.x_at(end):.1f}" for (_, end, _), y in zip(levels, heights))
    return f"M{area.x_at(levels[0][0]):.1f} {heights[0]:.1f}{steps}"


def tone(series: int, count: int) -> str:
    """Return the class that colours a series; the only series has the page's own colour."""
    return f" tone-{series % TONES}" if count > 1 else ""


def round_ticks(end: float, max_steps: int = 6) -> list[int]:
    """Choose whole numbers from 0 that cover an axis in steps of 1, 2 or 5 times a power of ten.

    >>> round_ticks(7), round_ticks(430)
    ([0, 2, 4, 6, 8], [0, 100, 200, 300, 400, 500])
    """
    if end <= max_steps:
        return list(range(max(1, math.ceil(end)) + 1))
    size: float = 10 ** math.floor(math.log10(end / max_steps))
    step = next(int(size * m) for m in (1, 2, 5, 10) if int(size * m) * max_steps >= end)
    return list(range(0, math.ceil(end / step) * step + 1, step))


def tick_steps(width: int) -> int:
    """Return how many steps the ticks of an x axis may have in a plot of this width."""
    return 6 if width >= WIDTH else 4


def decimal_ticks(end: float, max_steps: int = 6) -> list[float]:
    """Choose numbers from 0 that cover an axis in steps of 1, 2 or 5 times a power of ten.

    >>> decimal_ticks(0.31)
    [0.0, 0.1, 0.2, 0.3, 0.4]
    """
    if end <= 0:
        return [0.0, 1.0]
    power = math.floor(math.log10(end / max_steps))
    step = next(m * 10.0**power for m in (1, 2, 5, 10) if m * 10.0**power * max_steps >= end)
    return [round(step * n, 1 - power) for n in range(math.ceil(end / step) + 1)]


def padded_range(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of an axis: a little more than the values take."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin


def ticks_inside(ends: tuple[float, float]) -> list[tuple[float, str]]:
    """Choose round numbers inside an axis that may start anywhere."""
    low, high = ends
    size = 10.0 ** math.floor(math.log10((high - low) / 5))
    step = next(size * m for m in (1, 2, 5, 10) if size * m * 5 >= high - low)
    numbers = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [(n * step, f"{n * step:.4g}") for n in numbers]


def fold(label: str, width: float, max_lines: int = 3) -> list[str]:
    """Break a label at spaces and hyphens into lines that fit, and cut what is left over.

    >>> fold("strongest-swap words 3", 80)
    ['strongest-', 'swap words 3']
    >>> fold("unbreakable", 40)
    ['unbre…']
    """
    characters = max(4, int(width / CHARACTER_WIDTH))
    lines = [""]
    for part in label.replace("-", "-\0").replace(" ", " \0").split("\0"):
        if lines[-1] and len((lines[-1] + part).rstrip()) > characters:
            lines.append("")
        lines[-1] += part
    if len(lines) > max_lines:
        lines[max_lines - 1 :] = ["".join(lines[max_lines - 1 :])]
    return [_cut(line.rstrip(), characters) for line in lines]


def _labels(area: PlotArea) -> list[str]:
    parts = []
    if area.x_label:
        middle = (area.left + area.right) / 2
        parts.append(_text(middle, area.height - 6, area.x_label, css_class="name"))
    if area.y_label:
        y = (area.top + area.bottom) / 2
        parts.append(
            f'<text class="name" transform="translate(14 {y:.1f}) rotate(-90)" '
            f'text-anchor="middle">{escape(area.y_label)}</text>'
        )
    if area.title:
        parts.append(_text(area.left, 20, area.title, "start", "heading"))
    top = area.top - LEGEND_ROW_HEIGHT * len(area.legend_rows)
    for number, row in enumerate(area.legend_rows):
        y = top + LEGEND_ROW_HEIGHT * number + 4
        for series, x in row:
            parts.append(_swatch(area.swatch, x, y, tone(series, len(area.legend))))
            name = _cut(area.legend[series], MAX_LEGEND_CHARACTERS)
            parts.append(_text(x + 30, y + 4, name, "start"))
    return parts


def _swatch(kind: str, x: float, y: float, tone: str) -> str:
    if kind == "line":
        return f'<path class="line{tone}" d="M{x:.1f} {y:.1f}h24"/>'
    if kind == "dot":
        return f'<circle class="fill{tone}" cx="{x + 14:.1f}" cy="{y:.1f}" r="4"/>'
    return f'<rect class="fill{tone}" x="{x + 8:.1f}" y="{y - 6:.1f}" width="14" height="12"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle", css_class: str = "") -> str:
    style = f' class="{css_class}"' if css_class else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _cut(text: str, max_characters: int) -> str:
    return text if len(text) <= max_characters else text[: max_characters - 1] + "…"


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
