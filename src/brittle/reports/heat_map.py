"""One heat map: values in coloured cells, as a table of a page or as an SVG.

On a page the colour of a cell is a class, `a0` to `a47`, whose colours for light and dark screens
stand in the style sheet (`colour_rules`). A map of two measures has a second class, `b0` to `b47`,
and a switch of the page shows one of them. The map is read without a script.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from brittle.reports.colours import DARK_STOPS, LIGHT_STOPS, ink_on, ramp

if TYPE_CHECKING:
    from markupsafe import Markup

Groups = list[tuple[str, list[int]]]
"""The name of each group, and the positions of its members."""

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

    @classmethod
    def around(cls, rates: Sequence[float]) -> Scale:
        """Return the scale that holds all rates; of no rates, the whole."""
        if not len(rates):
            return cls(0.0, 1.0)
        low, high = math.floor(10 * min(rates)), math.ceil(10 * max(rates))
        return cls(low / 10, max(high, low + 1) / 10)

    def level(self, rate: float) -> int:
        """Return the colour of a rate, from 0 to LEVELS − 1."""
        return round((LEVELS - 1) * (rate - self.low) / (self.high - self.low))

    def css(self, rate: float | None, measure: str = "a") -> str:
        """Return the class of a cell: its colour, or hatched if it is empty."""
        return f"{measure}{'e' if is_empty(rate) else self.level(rate or 0.0)}"

    @property
    def ticks(self) -> list[float]:
        """The numbers of the legend: every tenth."""
        return [self.low + n / 10 for n in range(round(10 * (self.high - self.low)) + 1)]


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Values in coloured cells; an empty cell is None or NaN.

    `values` are those of one measure, or of two, between which the page switches. Rows and columns
    may be in groups, each by the name of its group. `framed` cells stand out. `about` is what a
    screen reader says, `css` a class of the whole.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Any]
    scale: Scale
    about: str
    row_groups: Sequence[str] = ()
    column_groups: Sequence[str] = ()
    framed: Collection[tuple[int, int]] = ()
    css: str = ""
    shown_as: ClassVar = "map"

    def __html__(self) -> Markup:
        from brittle.reports.page import fragment

        return fragment("heat_map.html.jinja", map=self)

    @property
    def row_sets(self) -> Groups:
        """The rows in their groups."""
        return grouped(self.row_groups or [""] * len(self.rows))

    @property
    def column_sets(self) -> Groups:
        """The columns in their groups."""
        return grouped(self.column_groups or [""] * len(self.columns))

    @property
    def room(self) -> str:
        """The classes of the style sheet that say how large a cell is."""
        return {ROOMY: " numbered roomy", NUMBERED: " numbered", DENSE: ""}[self.cell_width]

    @property
    def cell_width(self) -> int:
        """The width of a cell in pixels."""
        columns = len(self.columns)
        return ROOMY if columns <= MAX_ROOMY else NUMBERED if columns <= MAX_NUMBERED else DENSE

    def is_narrow(self, group: str, members: Sequence[int]) -> bool:
        """Tell whether the columns of a group have less room than its name takes."""
        return CHARACTER_WIDTH * len(group) > self.cell_width * len(members)

    def cell_css(self, i: int, j: int, is_first: bool) -> str:
        """Return the classes of a cell; the first of a group has a gap before it."""
        rates = [measure[i][j] for measure in self.values]
        classes = [self.scale.css(rate, letter) for letter, rate in zip("ab", rates)]
        classes += ["g"] if is_first else []
        classes += ["d"] if (i, j) in self.framed and not is_empty(rates[0]) else []
        return " ".join(classes)

    def numbers(self, i: int, j: int) -> list[str]:
        """Return the numbers that a cell has room for: whole percent."""
        if self.cell_width == DENSE:
            return []
        rates = [measure[i][j] for measure in self.values]
        return ["" if is_empty(rate) else f"{100 * rate:.0f}" for rate in rates]


def is_empty(value: float | None) -> bool:
    """Tell whether a cell has no value."""
    return value is None or math.isnan(value)


def grouped(classes: Sequence[str]) -> Groups:
    """Group positions by their class; groups are in the order of their first member.

    >>> grouped(["LSTM", "CNN", "LSTM"])
    [('LSTM', [0, 2]), ('CNN', [1])]
    """
    first = {name: n for n, name in reversed(list(enumerate(classes)))}
    order = sorted(range(len(classes)), key=lambda i: (first[classes[i]], i))
    return [(name, list(members)) for name, members in groupby(order, key=lambda i: classes[i])]


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


@dataclass(frozen=True)
class Legend:
    """The colours of a map, with what is framed and what is empty, if anything is."""

    scale: Scale
    framed: str = ""
    empty: str = ""

    def __html__(self) -> Markup:
        from brittle.reports.page import fragment

        return fragment("legend.html.jinja", legend=self)
