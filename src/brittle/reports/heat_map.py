"""Heat maps: values in coloured cells, as a table of a page (`HeatMap`), or drawn (`ShadedMap`).

In a table the colour of a cell is a class, `a0` to `a47`, whose colours for light and dark screens
stand in the style sheet (`colour_rules`). A map of two measures has a second class, `b0` to `b47`,
and a switch of the page shows one of them. The map is read without a script.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from brittle.reports.axes import CHARACTER_WIDTH as NARROW_CHARACTER
from brittle.reports.axes import DARK_STOPS, LIGHT_STOPS, escape, ink_on, ramp

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
    """The rates at both ends of the colours: from 0 to 100%, so that all maps compare."""

    low: float = 0.0
    high: float = 1.0

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

    def group_label(self, group: str, members: Sequence[int], names: Sequence[str]) -> str:
        """Return the name of a group; one member of the same name says it already."""
        return "" if [names[member] for member in members] == [group] else group

    def numbers(self, i: int, j: int) -> list[str]:
        """Return the numbers that a cell has room for: whole percent."""
        if self.cell_width == DENSE:
            return []
        rates = [measure[i][j] for measure in self.values]
        return ["" if is_empty(rate) else f"{100 * rate:.0f}" for rate in rates]

    def svg(self, about: str, legend: str, measure: int = 0) -> str:
        """Draw one measure as an SVG, for Markdown pages and papers; `legend` is its last words."""
        ys, xs = _offsets(self.row_sets, ROOM), _offsets(self.column_sets, ROOM)
        width, height = max(max(xs.values()) + 60, MIN_WIDTH), max(ys.values()) + CELL + 44
        colours = ramp(LEVELS, LIGHT_STOPS)
        # One path for all cells of a colour: a rectangle for each would be three times as long.
        paths: dict[str, str] = {}
        frames = []
        for i, y in ys.items():
            for j, x in xs.items():
                rate = self.values[measure][i][j]
                colour = EMPTY if is_empty(rate) else colours[self.scale.level(rate)]
                paths[colour] = paths.get(colour, "") + f"M{x} {y}h{SIDE}v{SIDE}h-{SIDE}z"
                if (i, j) in self.framed and not is_empty(rate):
                    frame = f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" fill="none" '
                    frames.append(f'{frame}stroke="#23262b" stroke-width="2"/>')
        parts = [
            *(f'<path fill="{colour}" d="{path}"/>' for colour, path in paths.items()),
            *self._names(xs, ys),
            *frames,
            *_drawn_legend(self.scale, colours, height - 30, legend),
        ]
        head = f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-label='
        return f'{head}"{escape(about)}">{"".join(parts)}</svg>'

    def _names(self, xs: Mapping[int, int], ys: Mapping[int, int]) -> Iterator[str]:
        """Yield the names of rows and columns, and of every group of columns above its first."""
        for i, y in ys.items():
            name = _short(self.rows[i])
            yield f'<text x="{ROOM - 6}" y="{y + 11}" text-anchor="end">{name}</text>'
        for j, x in xs.items():
            place = f"translate({x + 11} {ROOM - 6}) rotate(-90)"
            yield f'<text transform="{place}">{_short(self.columns[j])}</text>'
        for group, members in self.column_sets:
            label = _short(self.group_label(group, members, self.columns))
            yield f'<text class="heading" x="{xs[members[0]]}" y="14">{label}</text>'


CELL, SIDE, GAP = 14, 13, 6  # of a drawn map: the width of a cell, and of its colour
ROOM = 176  # for the names, at the left and above
MIN_WIDTH = 640  # of the legend
MAX_CHARACTERS = 22
EMPTY = "#e3e0da"


def _offsets(groups: Groups, start: int) -> dict[int, int]:
    """Return where each row or column begins, by its position."""
    offsets: dict[int, int] = {}
    for n, (_, members) in enumerate(groups):
        for member in members:
            offsets[member] = start + CELL * len(offsets) + GAP * n
    return offsets


def _drawn_legend(scale: Scale, colours: Sequence[str], y: int, words: str) -> list[str]:
    parts = [
        f'<rect x="{ROOM + 5 * n}" y="{y}" width="5" height="10" fill="{colour}"/>'
        for n, colour in enumerate(colours)
    ]
    span = 5 * LEVELS
    for tick in (scale.low, (scale.low + scale.high) / 2, scale.high):
        x = ROOM + span * (tick - scale.low) / (scale.high - scale.low)
        parts.append(
            f'<text x="{x:.0f}" y="{y + 24}" text-anchor="middle">{100 * tick:.0f}%</text>'
        )
    return [*parts, f'<text x="{ROOM + span + 24}" y="{y + 9}">{escape(words)}</text>']


def _short(name: str) -> str:
    return escape(cut_name(name, MAX_CHARACTERS))


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


STEPS = 10
"""How many shades a drawn map has."""
SLOPE = 0.71  # the height of a letter of a heading, which is turned by 45°
TURNED = "rotate(-45)"
BOLD = 1.1  # how much wider bold letters are


@dataclass(frozen=True)
class CellSize:
    """The size of a drawn cell in pixels, the gap between two, and how long a name may be."""

    width: int
    height: int
    gap: int
    max_characters: int

    @property
    def inner(self) -> str:
        """The size of its colour."""
        return f'width="{self.width - self.gap}" height="{self.height - self.gap}"'


WITH_NUMBERS = CellSize(40, 22, 2, 28)
WITHOUT_NUMBERS = CellSize(20, 20, 1, 14)


@dataclass(frozen=True)
class ShadedMap:
    """Values as shades of red, or of blue where they are negative; None is an empty cell.

    The strongest value has the full colour. A map with numbers fills the page; one without keeps
    its size, and its marked rows and columns have a frame. `hints` are what cells say on hover.
    """

    rows: Sequence[tuple[str, Sequence[float | None]]]
    columns: Sequence[str]
    hints: Sequence[Sequence[str]]
    about: str
    title: str = ""
    has_numbers: bool = True
    highest: float = 0.0
    marked_rows: Collection[int] = ()
    marked_columns: Collection[int] = ()
    shown_as: ClassVar = "map"

    def __html__(self) -> Markup:
        from markupsafe import Markup

        return Markup(self.svg())

    @property
    def size(self) -> CellSize:
        """The size of its cells."""
        return WITH_NUMBERS if self.has_numbers else WITHOUT_NUMBERS

    def svg(self) -> str:
        """Draw the map; `standalone_svg` makes a file of it."""
        size = self.size
        heads = [cut_name(name, size.max_characters) for name in self.columns]
        names = [cut_name(name, size.max_characters) for name, _ in self.rows]
        wide = BOLD if self.marked_rows else 1.0
        left = round(16 + wide * NARROW_CHARACTER * max(map(len, names), default=0))
        rise = SLOPE * NARROW_CHARACTER
        top = round(30 + (20 if self.title else 0) + rise * max(map(len, heads), default=0))
        overhang = round(rise * len(heads[-1])) if heads else 0
        width = left + size.width * len(heads) + overhang + 8
        height = top + size.height * len(names) + 8
        fixed = "" if self.has_numbers else f' width="{width}" height="{height}"'
        parts = [
            f'<svg class="{"plot" if self.has_numbers else "map"}" viewBox="0 0 {width} {height}"'
            f'{fixed} role="img" aria-label="{escape(self.about)}">'
        ]
        if self.title:
            parts.append(f'<text class="heading" x="8" y="20">{escape(self.title)}</text>')
        for n, head in enumerate(heads):
            place = f"translate({left + size.width * (n + 0.5):.0f} {top - 6}) {TURNED}"
            bold = _bold(n in self.marked_columns)
            parts.append(f'<text{bold} transform="{place}">{escape(head)}</text>')
        for n, name in enumerate(names):
            y = top + size.height * n
            bold = _bold(n in self.marked_rows)
            parts.append(
                f'<text{bold} x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>'
            )
            parts += self._cells(n, left, y)
        return "".join([*parts, *self._frames(left, top), "</svg>"])

    def _cells(self, row: int, left: int, y: int) -> list[str]:
        size, (_, values) = self.size, self.rows[row]
        highest = self.highest or max_strength(self.rows)
        parts = []
        for n, value in enumerate(values):
            x = left + size.width * n
            place = (
                f'x="{x}" y="{y}" width="{size.width - size.gap}" height="{size.height - size.gap}"'
            )
            hint = f"<title>{escape(self.hints[row][n])}</title>"
            if value is None:
                parts.append(f'<rect class="track" {place}>{hint}</rect>')
                continue
            tone = "fill" if value >= 0 else "fill tone-0"
            if not self.has_numbers:
                share = abs(value) / highest if highest else 0.0
                parts.append(
                    f'<rect class="{tone}" fill-opacity="{share:.2f}" {place}>{hint}</rect>'
                )
                continue
            opacity = 0.7 * shade(value, highest) / STEPS
            parts.append(
                f'<rect class="{tone}" fill-opacity="{opacity:.2f}" {place}>{hint}</rect>'
                f'<text x="{x + size.width / 2 - 1:.0f}" y="{y + 15}" text-anchor="middle">'
                f"{two_digits(value)}</text>"
            )
        return parts

    def _frames(self, left: int, top: int) -> list[str]:
        size = self.size
        tall, wide = size.height * len(self.rows), size.width * len(self.columns)
        places = [
            f'x="{left + size.width * n}" y="{top}" width="{size.width - size.gap}" height="{tall}"'
            for n in self.marked_columns
        ]
        places += [
            f'x="{left}" y="{top + size.height * n}" width="{wide}" '
            f'height="{size.height - size.gap}"'
            for n in self.marked_rows
        ]
        return [f'<rect class="frame" {place}/>' for place in places]


def max_strength(rows: Sequence[tuple[str, Sequence[float | None]]]) -> float:
    """Return the strongest value of a map, without its sign."""
    values = [abs(value) for _, row in rows for value in row if value is not None]
    return max(values, default=0.0)


def shade(value: float, highest: float) -> int:
    """Return how strong a value is, in tenths of the strongest."""
    return round(STEPS * abs(value) / highest) if highest else 0


def two_digits(value: float) -> str:
    """Format a value as a cell shows it, without a minus before 0.00."""
    return f"{round(value, 2) + 0.0:.2f}"


def cut_name(name: str, max_characters: int) -> str:
    """Cut a name that is too long for its place."""
    return name if len(name) <= max_characters else name[: max_characters - 1] + "…"


def _bold(is_marked: bool) -> str:
    return ' class="heading"' if is_marked else ""
