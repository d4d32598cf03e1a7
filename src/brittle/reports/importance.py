"""Word importance as a heat map: on a terminal, on a page, and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from brittle.reports.axes import CHARACTER_WIDTH
from brittle.reports.escaping import escape, isolate, visible
from brittle.reports.still_page import still_page

if TYPE_CHECKING:
    from rich.table import Table

Rows = Sequence[tuple[str, Sequence[float]]]
"""A name, of a model or "mean", and its values, one for every column."""

STEPS = 10
CELL_WIDTH, CELL_HEIGHT = 40, 22
MAX_CHARACTERS = 28
STYLE = """\
.importance th { white-space: nowrap; }
.importance th, .importance tbody td { padding: 5px 8px; min-width: 3.6em; }
.importance tbody td {
  background: color-mix(in srgb, var(--heat) calc(1.6 * var(--much, 0%)), transparent);
}
"""


def terminal_tables(columns: Sequence[str], rows: Rows, width: int) -> list[Table]:
    """Build tables with coloured numbers; a map wider than the terminal is cut into several."""
    from rich.table import Table
    from rich.text import Text

    heads = [_cut(visible(name)) for name in columns]
    highest = _highest(rows)
    room = width - max(len(_cut(name)) for name, _ in rows) - 2
    tables = []
    for part in _parts([max(5, len(head)) + 2 for head in heads], room):
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column("")
        for n in part:
            table.add_column(Text(heads[n]), justify="right", no_wrap=True)
        for name, values in rows:
            cells = [Text(_number(values[n]), style=_style(values[n], highest)) for n in part]
            table.add_row(Text(_cut(visible(name))), *cells)
        tables.append(table)
    return tables


def importance_page(
    title: str, facts: Sequence[str], columns: Sequence[str], rows: Rows, failures: Sequence[str]
) -> str:
    """Write a page with the heat map as a table."""
    highest = _highest(rows)
    head = "".join(f'<th scope="col">{isolate(_cut(name))}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{isolate(name)}</th>'
        + "".join(_table_cell(value, highest) for value in values)
        + "</tr>"
        for name, values in rows
    )
    notes = "".join(f"<li>{isolate(failure)}</li>" for failure in failures)
    explained = (
        '<p class="small">Red: the log likelihood falls, so the model relied on the word. '
        "Blue: it rises. The strongest change has the full colour.</p>"
    )
    sections = [
        f'<p class="facts">{"".join(f"<span>{isolate(fact)}</span>" for fact in facts)}</p>',
        f'<ul class="notes" aria-label="Left out">{notes}</ul>' if notes else "",
        '<section><div class="card"><div class="scroll stacked">'
        '<table class="confusion importance"><thead>'
        f"<tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
        f"{explained}</section>",
    ]
    return still_page(title, [section for section in sections if section], STYLE)


def importance_figure(
    columns: Sequence[str], rows: Rows, title: str = "", description: str = ""
) -> str:
    """Draw the heat map as SVG, with its numbers; `standalone_svg` makes a file of it.

    `description` is for a map of something else than the importance of words.
    """
    highest = _highest(rows)
    left = round(16 + CHARACTER_WIDTH * max(len(_cut(name)) for name, _ in rows))
    top = round(
        30 + (20 if title else 0) + 0.71 * CHARACTER_WIDTH * max(len(_cut(c)) for c in columns)
    )
    overhang = round(0.71 * CHARACTER_WIDTH * len(_cut(columns[-1])))
    width = left + CELL_WIDTH * len(columns) + overhang + 8
    height = top + CELL_HEIGHT * len(rows) + 8
    parts = [
        f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(description or _description(columns, rows))}">'
    ]
    if title:
        parts.append(f'<text class="heading" x="8" y="20">{escape(title)}</text>')
    for n, name in enumerate(columns):
        x = left + CELL_WIDTH * (n + 0.5)
        place = f"translate({x:.0f} {top - 6}) rotate(-45)"
        parts.append(f'<text transform="{place}">{escape(_cut(name))}</text>')
    for row, (name, values) in enumerate(rows):
        y = top + CELL_HEIGHT * row
        parts.append(
            f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(_cut(name))}</text>'
        )
        for n, value in enumerate(values):
            x = left + CELL_WIDTH * n
            tone = "fill" if value >= 0 else "fill tone-0"
            opacity = 0.7 * _heat(value, highest) / STEPS
            parts.append(
                f'<rect class="{tone}" fill-opacity="{opacity:.2f}" x="{x}" y="{y}" '
                f'width="{CELL_WIDTH - 2}" height="{CELL_HEIGHT - 2}"><title>{escape(name)}, '
                f"{escape(columns[n])}: {value:.3f}</title></rect>"
                f'<text x="{x + CELL_WIDTH / 2 - 1:.0f}" y="{y + 15}" '
                f'text-anchor="middle">{_number(value)}</text>'
            )
    return "".join([*parts, "</svg>"])


def _table_cell(value: float, highest: float) -> str:
    colour = "wrong" if value >= 0 else "right"
    return f'<td class="{colour} heat-{_heat(value, highest)}">{_number(value)}</td>'


def _number(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # no minus before 0.00


def _highest(rows: Rows) -> float:
    return max((abs(value) for _, values in rows for value in values), default=0.0)


def _heat(value: float, highest: float) -> int:
    """Return how strong a value is, in tenths of the strongest."""
    return round(STEPS * abs(value) / highest) if highest else 0


def _style(value: float, highest: float) -> str:
    heat = _heat(value, highest)
    if heat < 1:
        return "dim"
    colour = "red" if value > 0 else "blue"
    return f"bold {colour}" if heat > STEPS // 2 else colour


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


def _cut(name: str) -> str:
    return name if len(name) <= MAX_CHARACTERS else name[: MAX_CHARACTERS - 1] + "…"
