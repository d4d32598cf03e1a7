"""The heat map of a rate matrix as HTML tables: coloured cells in groups, and the values.

Every cell has two classes, its colour over all texts and over those that a target had right; the
style sheet shows one of them. The map is read without a script; the script adds what hovers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from brittle.formatting import NO_VALUE, number, percent, plural
from brittle.reports.escaping import escape
from brittle.reports.studies.colours import DARK_STOPS, LIGHT_STOPS, ink_on, ramp
from brittle.reports.studies.tables import Model, RateMatrix, Rates

Groups = list[tuple[str, list[int]]]

LEVELS = 48
MAX_ROOMY, MAX_NUMBERED = 12, 32
"""Few columns have wide cells; more than these leave no room for numbers in the cells."""
ROOMY, NUMBERED, DENSE = 54, 29, 15  # the width of a cell in pixels, as in study.css
CHARACTER_WIDTH = 7.5  # a usual width in bold 12 px, because there is nothing to measure text with


@dataclass(frozen=True)
class Scale:
    """The rates at both ends of the colours, in tenths."""

    low: float
    high: float

    def level(self, rate: float) -> int:
        """Return the colour of a rate, from 0 to LEVELS − 1."""
        return round((LEVELS - 1) * (rate - self.low) / (self.high - self.low))

    @property
    def ticks(self) -> list[float]:
        """The numbers of the legend: every tenth."""
        return [self.low + n / 10 for n in range(round(10 * (self.high - self.low)) + 1)]


def scale_of(matrix: RateMatrix) -> Scale:
    """Return the scale that holds all rates of a matrix, of both kinds."""
    rates = np.concatenate([matrix.rate.ravel(), matrix.rate_of_right.ravel()])
    rates = rates[np.isfinite(rates)]
    if not len(rates):
        return Scale(0.0, 1.0)
    low, high = math.floor(10 * rates.min()), math.ceil(10 * rates.max())
    return Scale(low / 10, max(high, low + 1) / 10)


def colour_rules() -> str:
    """Return the style sheet of the colours, for light and for dark screens."""
    light, dark = (_variables(ramp(LEVELS, stops)) for stops in (LIGHT_STOPS, DARK_STOPS))
    cells = "".join(
        f".a{n}{{--a:var(--p{n});--x:var(--i{n})}}.b{n}{{--b:var(--p{n});--y:var(--i{n})}}"
        for n in range(LEVELS)
    )
    stops = ",".join(f"var(--p{n})" for n in range(LEVELS))
    return (
        f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"{cells}\n.ramp{{background:linear-gradient(90deg,{stops})}}\n"
    )


def _variables(colours: Sequence[str]) -> str:
    return "".join(f"--p{n}:{c};--i{n}:{ink_on(c)};" for n, c in enumerate(colours))


def heat_map(matrix: RateMatrix, by: str, scale: Scale) -> str:
    """Draw the matrix with its models grouped by a class; a group keeps the order of the pool."""
    rows, columns = grouped(matrix.sources, by), grouped(matrix.targets, by)
    places = " ".join(str(i) for _, members in rows for i in members)
    order = " ".join(str(j) for _, members in columns for j in members)
    return (
        f'<div class="frame by-{by}"><table class="map{_room(matrix)}" tabindex="0" role="img" '
        f'data-rows="{places}" data-columns="{order}" aria-label="Heat map of '
        f"{plural(len(matrix.sources), 'sources')} and {plural(len(matrix.targets), 'targets')}. "
        'Arrow keys move from cell to cell. All values are in the tables below it.">'
        f"<thead>{_head(matrix, columns)}</thead>"
        f"<tbody>{_body(matrix, rows, columns, scale)}</tbody></table></div>"
    )


def _head(matrix: RateMatrix, columns: Groups) -> str:
    """Write the groups of the targets, and below them their names."""
    groups = names = ""
    for group, members in columns:
        is_narrow = CHARACTER_WIDTH * len(group) > _cell_width(matrix) * len(members)
        name = f"<span>{_label(group)}</span>" if is_narrow else _label(group)
        narrow = " narrow" if is_narrow else ""
        groups += f'<th colspan="{len(members)}" class="g{narrow}">{name}</th>'
        for n, j in enumerate(members):
            start = "" if n else ' class="g"'
            names += f"<th{start}><span>{_label(matrix.targets[j].name)}</span></th>"
    return (
        f'<tr><td colspan="2"></td>{groups}</tr><tr><td colspan="2" class="corner">'
        f"<span>target →</span><span>source ↓</span></td>{names}</tr>"
    )


def _body(matrix: RateMatrix, rows: Groups, columns: Groups, scale: Scale) -> str:
    lines = []
    for group, members in rows:
        heading = f'<th rowspan="{len(members)}" class="group"><span>{_label(group)}</span></th>'
        for n, i in enumerate(members):
            cells = "".join(
                _cell(matrix, i, j, scale, is_first=m == 0)
                for _, targets in columns
                for m, j in enumerate(targets)
            )
            start = "<tr>" if n else f'<tr class="g">{heading}'
            lines.append(f"{start}<th>{_label(matrix.sources[i].name)}</th>{cells}</tr>")
    return "\n".join(lines)


def grouped(models: Sequence[Model], by: str) -> Groups:
    """Group the positions of models by a class; groups are in the order of their first model."""
    classes = [model.classes.get(by, "") for model in models]
    order = sorted(range(len(models)), key=lambda i: (classes.index(classes[i]), i))
    return [(name, list(members)) for name, members in groupby(order, key=lambda i: classes[i])]


def legend(scale: Scale, has_empty: bool, has_base: bool) -> str:
    """Explain the colours, the base rates and the empty cells."""
    ticks = "".join(f"<span>{100 * tick:.0f}%</span>" for tick in scale.ticks)
    base = (
        '<li><i class="swatch d"></i>base rate: the same model, trained with another seed</li>'
        if has_base
        else ""
    )
    empty = '<li><i class="swatch ae"></i>empty: nothing to measure</li>' if has_empty else ""
    return (
        f'<div class="key"><div><div class="ramp"></div><div class="ticks">{ticks}</div></div>'
        f"<ul>{base}{empty}</ul></div>"
    )


def value_table(matrix: RateMatrix, of_right: bool) -> str:
    """Write every value of the matrix, in percent with one decimal."""
    rates, is_base = matrix.rates(of_right), matrix.is_base
    heads = "".join(
        f'<th scope="col"><span>{escape(model.name)}</span></th>' for model in matrix.targets
    )
    rows = []
    for i, source in enumerate(matrix.sources):
        cells = "".join(
            f"<td{_count(matrix, i, j) if of_right else ''}{' class=base' if base else ''}>"
            f"{in_percent(rate)}</td>"
            for j, (rate, base) in enumerate(zip(rates[i].tolist(), is_base[i].tolist()))
        )
        texts = number(int(matrix.texts[i]))
        rows.append(f'<tr><th scope="row">{escape(source.name)}</th><td>{texts}</td>{cells}</tr>')
    return (
        f'<div class="values"><table id="{"right-values" if of_right else "all-values"}"><thead>'
        '<tr><th scope="col">source</th><th scope="col"><span>texts</span></th>'
        f"{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def in_percent(rate: float) -> str:
    """Format a rate as in a table whose unit is the percent.

    >>> in_percent(0.3534), in_percent(float("nan"))
    ('35.3', '–')
    """
    return NO_VALUE if math.isnan(rate) else percent(rate).removesuffix("%")


def _count(matrix: RateMatrix, source: int, target: int) -> str:
    return f" data-n={matrix.right[source, target]}"


def _room(matrix: RateMatrix) -> str:
    """Return the classes of the style sheet that say how large a cell is."""
    width = _cell_width(matrix)
    return "" if width == DENSE else " numbered" if width == NUMBERED else " numbered roomy"


def _cell_width(matrix: RateMatrix) -> int:
    columns = len(matrix.targets)
    return ROOMY if columns <= MAX_ROOMY else NUMBERED if columns <= MAX_NUMBERED else DENSE


def _cell(matrix: RateMatrix, i: int, j: int, scale: Scale, *, is_first: bool) -> str:
    rates: list[float] = [float(part[i, j]) for part in (matrix.rate, matrix.rate_of_right)]
    classes = [
        f"{letter}{'e' if math.isnan(rate) else scale.level(rate)}"
        for letter, rate in zip("ab", rates)
    ]
    if is_first:
        classes.append("g")
    if matrix.sources[i].name == matrix.targets[j].name and not math.isnan(rates[0]):
        classes.append("d")
    inside = ""
    if _room(matrix):
        shown = ["" if math.isnan(rate) else f"{100 * rate:.0f}" for rate in rates]
        inside = f'<b class="all">{shown[0]}</b><b class="right">{shown[1]}</b>'
    return f'<td class="{" ".join(classes)}">{inside}</td>'


def _label(name: str) -> str:
    """Write a name in the space of its label; the whole one is in the tables and the title."""
    return f'<span class="name" title="{escape(name)}">{escape(name)}</span>'


def means(matrix: RateMatrix, of_right: bool) -> tuple[float, float]:
    """Return the mean over all pairs of different models, and the mean base rate."""
    rates, is_base = matrix.rates(of_right), matrix.is_base

    def mean(values: Rates) -> float:
        finite = values[np.isfinite(values)]
        return float(finite.mean()) if len(finite) else math.nan

    return mean(rates[matrix.is_pair]), mean(rates[is_base])
