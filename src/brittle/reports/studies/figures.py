"""The heat map of a rate matrix as one SVG, for Markdown pages and papers."""

from __future__ import annotations

import math

from brittle.formatting import plural
from brittle.reports.colours import LIGHT_STOPS, ramp
from brittle.reports.escaping import escape
from brittle.reports.heat_map import LEVELS, Groups, Scale, grouped
from brittle.reports.studies.heat_map import scale_of
from brittle.reports.studies.rate_matrix import RateMatrix

CELL, SIDE, GAP = 14, 13, 6
LEFT, TOP = 176, 176
MIN_WIDTH = 640  # of the legend
MAX_CHARACTERS = 22
EMPTY = "#e3e0da"


def matrix_figure(matrix: RateMatrix, by: str = "architecture", of_right: bool = False) -> str:
    """Draw the matrix with its models grouped by a class."""
    rows, columns = (
        grouped([model.classes.get(by, "") for model in models])
        for models in (matrix.sources, matrix.targets)
    )
    ys, xs = _offsets(rows, TOP), _offsets(columns, LEFT)
    width, height = max(max(xs.values()) + 60, MIN_WIDTH), max(ys.values()) + CELL + 44
    scale, colours = scale_of(matrix), ramp(LEVELS, LIGHT_STOPS)
    parts = [*_names(matrix, xs, ys), *_group_names(columns, xs)]
    # One path for all cells of a colour: a rectangle for each would be three times as long.
    paths: dict[str, str] = {}
    for i, y in ys.items():
        for j, x in xs.items():
            rate = float(matrix.rates(of_right)[i, j])
            colour = EMPTY if math.isnan(rate) else colours[scale.level(rate)]
            paths[colour] = paths.get(colour, "") + f"M{x} {y}h{SIDE}v{SIDE}h-{SIDE}z"
            if matrix.sources[i].name == matrix.targets[j].name and not math.isnan(rate):
                frame = f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" fill="none" '
                parts.append(f'{frame}stroke="#23262b" stroke-width="2"/>')
    parts = [*(f'<path fill="{colour}" d="{path}"/>' for colour, path in paths.items()), *parts]
    parts += _legend(scale, colours, height - 30)
    description = (
        f"Transfer rates of {plural(len(matrix.sources), 'sources')} (rows) to "
        f"{plural(len(matrix.targets), 'targets')} (columns); framed: base rates"
    )
    return (
        f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-label="{description}">'
        f"{''.join(parts)}</svg>"
    )


def _offsets(groups: Groups, start: int) -> dict[int, int]:
    """Return where each model begins, by its position in the matrix."""
    offsets: dict[int, int] = {}
    for n, (_, members) in enumerate(groups):
        for member in members:
            offsets[member] = start + CELL * len(offsets) + GAP * n
    return offsets


def _names(matrix: RateMatrix, xs: dict[int, int], ys: dict[int, int]) -> list[str]:
    rows = [
        f'<text x="{LEFT - 6}" y="{y + 11}" text-anchor="end">{_cut(matrix.sources[i].name)}</text>'
        for i, y in ys.items()
    ]
    columns = [
        f'<text transform="translate({x + 11} {TOP - 6}) rotate(-90)">'
        f"{_cut(matrix.targets[j].name)}</text>"
        for j, x in xs.items()
    ]
    return rows + columns


def _group_names(columns: Groups, xs: dict[int, int]) -> list[str]:
    """Write the name of every group of targets above its first model."""
    return [
        f'<text class="heading" x="{xs[members[0]]}" y="14">{_cut(name)}</text>'
        for name, members in columns
    ]


def _legend(scale: Scale, colours: list[str], y: int) -> list[str]:
    parts = [
        f'<rect x="{LEFT + 5 * n}" y="{y}" width="5" height="10" fill="{colour}"/>'
        for n, colour in enumerate(colours)
    ]
    span = 5 * LEVELS
    for tick in (scale.low, (scale.low + scale.high) / 2, scale.high):
        x = LEFT + span * (tick - scale.low) / (scale.high - scale.low)
        parts.append(
            f'<text x="{x:.0f}" y="{y + 24}" text-anchor="middle">{100 * tick:.0f}%</text>'
        )
    words = f'<text x="{LEFT + span + 24}" y="{y + 9}">framed: base rate; grey: empty</text>'
    return [*parts, words]


def _cut(name: str, room: int = MAX_CHARACTERS) -> str:
    return escape(name if len(name) <= room else name[: room - 1] + "…")
