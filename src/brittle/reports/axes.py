"""The frame of a figure: scales, axes, ticks, names and a legend, as inline SVG.

Only presentation attributes and classes are used: the page's content policy forbids inline styles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from brittle.reports.summaries import escaped

WIDTH, HEIGHT = 420, 250
TONES = 6
LINE = 16
CHARACTER = 6.6  # the usual width of one, for there is nothing to measure text with

Tick = tuple[float, str]


@dataclass(frozen=True)
class PlotArea:
    """Where the values of a figure lie, and what stands around them.

    `across` and `up` name the axes; an empty name takes no room. `legend` names the series, in
    the order of their tones, drawn as a `swatch`: "line", "fill" or "dot". `lines` is how many
    lines the labels below the axis have.
    """

    x: tuple[float, float]
    y: tuple[float, float] = (0.0, 1.0)
    across: str = ""
    up: str = ""
    title: str = ""
    legend: tuple[str, ...] = ()
    swatch: str = "fill"
    lines: int = 1
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def left(self) -> float:
        return 64 if self.up else 46

    @property
    def right(self) -> float:
        return self.width - 16

    @property
    def top(self) -> float:
        return 12 + (24 if self.title else 0) + 20 * len(self.rows)

    @property
    def bottom(self) -> float:
        return self.height - 8 - LINE * self.lines - (20 if self.across else 0)

    @property
    def rows(self) -> list[list[tuple[int, float]]]:
        """Lay the legend out: of every row the series and where each begins."""
        rows: list[list[tuple[int, float]]] = []
        at = math.inf
        for series, name in enumerate(self.legend):
            wide = 30 + CHARACTER * min(len(name), MOST_NAME) + 14
            if at + wide > self.right + 14:
                rows.append([])
                at = self.left
            rows[-1].append((series, at))
            at += wide
        return rows

    def across_at(self, value: float) -> float:
        """Give the place of a value on the axis across."""
        low, high = self.x
        return self.left + (self.right - self.left) * (value - low) / (high - low)

    def up_at(self, value: float) -> float:
        """Give the place of a value on the axis up."""
        low, high = self.y
        return self.bottom - (self.bottom - self.top) * (value - low) / (high - low)


MOST_NAME = 48
SHARES: tuple[Tick, ...] = tuple((n / 4, f"{n / 4:.0%}") for n in range(5))


def drawn(
    frame: PlotArea, told: str, x_ticks: Sequence[Tick], y_ticks: Sequence[Tick], body: str
) -> str:
    """Draw the frame around a figure's body; `told` says for screen readers what it shows."""
    parts = [
        f'<svg class="plot" viewBox="0 0 {frame.width} {frame.height}" role="img" '
        f'aria-label="{escaped(told)}">'
    ]
    for value, name in y_ticks:
        y = frame.up_at(value)
        parts.append(f'<path class="grid" d="M{frame.left} {y:.1f}H{frame.right}"/>')
        parts.append(_text(frame.left - 8, y + 4, name, "end"))
    parts.append(f'<path class="axis" d="M{frame.left} {frame.bottom:.1f}H{frame.right}"/>')
    for value, name in x_ticks:
        x = frame.across_at(value)
        parts.append(f'<path class="axis" d="M{x:.1f} {frame.bottom:.1f}v4"/>')
        for line, words in enumerate(name.split("\n")):
            parts.append(_text(x, frame.bottom + 18 + LINE * line, words))
    return "".join([*parts, body, *_names(frame), "</svg>"])


def tone(series: int, of: int) -> str:
    """Name the class of a series' colour; a series by itself has the page's own."""
    return f" tone-{series % TONES}" if of > 1 else ""


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


def folded(name: str, wide: float, most: int = 3) -> list[str]:
    """Break a label into lines that fit, at spaces and hyphens, and cut what is left over.

    >>> folded("strongest-swap words 3", 80)
    ['strongest-', 'swap words 3']
    >>> folded("unbreakable", 40)
    ['unbre…']
    """
    room = max(4, int(wide / CHARACTER))
    lines = [""]
    for piece in name.replace("-", "-\0").replace(" ", " \0").split("\0"):
        if lines[-1] and len((lines[-1] + piece).rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    if len(lines) > most:
        lines[most - 1 :] = ["".join(lines[most - 1 :])]
    return [_cut(line.rstrip(), room) for line in lines]


def _names(frame: PlotArea) -> list[str]:
    """Write the names of the axes, the title and the legend."""
    parts = []
    if frame.across:
        middle = (frame.left + frame.right) / 2
        parts.append(_text(middle, frame.height - 6, frame.across, kind="name"))
    if frame.up:
        y = (frame.top + frame.bottom) / 2
        parts.append(
            f'<text class="name" transform="translate(14 {y:.1f}) rotate(-90)" '
            f'text-anchor="middle">{escaped(frame.up)}</text>'
        )
    if frame.title:
        parts.append(_text(frame.left, 20, frame.title, "start", "heading"))
    top = frame.top - 20 * len(frame.rows)
    for row, entries in enumerate(frame.rows):
        y = top + 20 * row + 4
        for series, x in entries:
            parts.append(_swatch(frame.swatch, x, y, tone(series, len(frame.legend))))
            parts.append(_text(x + 30, y + 4, _cut(frame.legend[series], MOST_NAME), "start"))
    return parts


def _swatch(kind: str, x: float, y: float, tone: str) -> str:
    if kind == "line":
        return f'<path class="line{tone}" d="M{x:.1f} {y:.1f}h24"/>'
    if kind == "dot":
        return f'<circle class="fill{tone}" cx="{x + 14:.1f}" cy="{y:.1f}" r="4"/>'
    return f'<rect class="fill{tone}" x="{x + 8:.1f}" y="{y - 6:.1f}" width="14" height="12"/>'


def _text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escaped(words)}</text>'


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
