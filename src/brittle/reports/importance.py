"""Word importance as a heat map: on a terminal, on a page, and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brittle.redaction import visible
from brittle.reports.heat_map import STEPS, ShadedMap, cut_name, max_strength, shade, two_digits
from brittle.reports.study_page import Part, StudyPage
from brittle.reports.table import GAP, Cell, Column, Table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

Rows = Sequence[tuple[str, Sequence[float]]]
"""A name, of a model or "mean", and its values, one for every column."""

MAX_CHARACTERS = 28
EXPLAINED = (
    "Red: the log likelihood falls, so the model relied on the word. Blue: it rises. The strongest "
    "change has the full colour."
)
STYLE = """\
.importance th { white-space: nowrap; }
.importance th, .importance tbody td { padding: 5px 8px; min-width: 3.6em; }
.importance tbody td {
  background: color-mix(in srgb, var(--heat) calc(1.6 * var(--much, 0%)), transparent);
}
"""


def terminal_tables(columns: Sequence[str], rows: Rows, width: int) -> list[Table]:
    """Build tables with coloured numbers; a map wider than the terminal is cut into several."""
    names = [cut_name(visible(name), MAX_CHARACTERS) for name, _ in rows]
    heads = [cut_name(visible(name), MAX_CHARACTERS) for name in columns]
    room = width - max(map(len, names)) - GAP
    whole = importance_table(columns, rows)
    return [
        Table(
            [whole.columns[0], *(whole.columns[n + 1] for n in part)],
            [[row.cells[0], *(row.cells[n + 1] for n in part)] for row in whole.full_rows],
        )
        for part in _parts([max(5, len(head)) + GAP for head in heads], room)
    ]


def importance_table(columns: Sequence[str], rows: Rows) -> Table:
    """Build the table of the map: a row a model, a column a word."""
    highest = max_strength(rows)
    heads = [cut_name(name, MAX_CHARACTERS) for name in columns]
    shown = {"align": "right", "css": "", "is_name": True, "no_wrap": True, "format": two_digits}
    cells = [[Cell(name), *(_cell(value, highest) for value in values)] for name, values in rows]
    columns_shown = [Column(head, **shown) for head in heads]  # type: ignore[arg-type]
    return Table([Column(), *columns_shown], cells, css="confusion importance", corner=True)


@dataclass(frozen=True)
class WideMap:
    """A map in the terminal, a blank line before each of its parts."""

    columns: Sequence[str]
    rows: Rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in terminal_tables(self.columns, self.rows, options.max_width):
            yield ""
            yield table


def importance_page(
    title: str, facts: Sequence[str], columns: Sequence[str], rows: Rows, failures: Sequence[str]
) -> StudyPage:
    """Build a page with the heat map as a table; `STYLE` is its style sheet."""
    part = Part(shows=[importance_table(columns, rows)], below=EXPLAINED, scroll="stacked")
    return StudyPage(title, facts=facts, notes=failures, notes_are="Left out", parts=[part])


def importance_figure(
    columns: Sequence[str], rows: Rows, title: str = "", description: str = ""
) -> str:
    """Draw the heat map as SVG, with its numbers; `standalone_svg` makes a file of it.

    `description` is for a map of something else than the importance of words.
    """
    hints = [
        [f"{name}, {column}: {value:.3f}" for column, value in zip(columns, values)]
        for name, values in rows
    ]
    about = description or _description(columns, rows)
    return ShadedMap(rows, columns, hints, about, title).svg()


def _cell(value: float, highest: float) -> Cell:
    heat = shade(value, highest)
    css = f"{'wrong' if value >= 0 else 'right'} heat-{heat}"
    colour = "red" if value > 0 else "blue"
    style = "dim" if heat < 1 else f"bold {colour}" if heat > STEPS // 2 else colour
    return Cell(value, css=css, style=style)


def _parts(widths: Sequence[int], room: int) -> list[list[int]]:
    """Deal columns into parts that are no wider than the room; a part has one at least."""
    parts: list[list[int]] = []
    used = room + 1
    for n, width in enumerate(widths):
        if used + width > room:
            parts.append([])
            used = 0
        parts[-1].append(n)
        used += width
    return parts


def _description(columns: Sequence[str], rows: Rows) -> str:
    strongest = [
        f"{name}: {columns[max(range(len(values)), key=values.__getitem__)]}"
        for name, values in rows
    ]
    return f"Word importance, rows are models. The most important word of {'; '.join(strongest)}"
