"""What people said of a run, in the terminal and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from brittle.metrics.summary import Figure
from brittle.reports.table import Cell, Column, Table
from brittle.reports.terminal import note_block
from brittle.reports.validity import (
    Line,
    agreement_rows,
    floor_lines,
    missing_lines,
    table_rows,
    validity_lines,
    validity_notes,
)
from brittle.validity.figures import Floors, Validity
from brittle.validity.tables import TableRow

UNBROKEN = ("question", "people say", "interval", "α", "same answer")
STRONG = ("all three: valid", "validity by judge", "valid success")


def validity_block(
    title: str,
    success: Figure,
    validity: Validity | None = None,
    floors: Floors | None = None,
    table: Sequence[TableRow] = (),
    remark: str = "",
) -> RenderableType:
    """Show validity with its parts, agreement, floors, and tables of other questionnaires.

    `remark` stands below a table: which paper it is from.
    """
    parts: list[RenderableType] = [Text(title, style="bold")]
    if table:
        parts += ["", Padding(_grid(table_rows(table)), (0, 0, 0, 2))]
        parts += ["", Padding(Text(remark, style="dim"), (0, 0, 0, 2))] if remark else []
    if validity is not None:
        parts += ["", _lines(validity_lines(validity, success))]
        if validity.reading and (rows := agreement_rows(validity.reading.agreement)):
            parts += ["", Padding(_grid(rows), (0, 0, 0, 2))]
        broken = success.count or 0
        parts += [note_block(note) for note in validity_notes(validity, broken, success.of)]
    if floors is not None:
        parts += ["", Text("  without people", style="dim"), _lines(floor_lines(floors))]
        parts += [note_block(line) for line in missing_lines(floors)]
    return Group(*parts)


def validity_json(
    success: Figure,
    validity: Validity | None = None,
    floors: Floors | None = None,
    table: Sequence[TableRow] = (),
) -> dict[str, Any]:
    """Return the same as plain data."""
    valid = None if validity is None else asdict(validity.valid_success(success))
    return {
        "success": asdict(success),
        "validity": None if validity is None else asdict(validity.figure),
        "valid_success": valid,
        "measured": None if validity is None else asdict(validity),
        "floors": None if floors is None else asdict(floors),
        "answers": [asdict(row) for row in table],
        "notes": []
        if validity is None
        else validity_notes(validity, success.count or 0, success.of),
    }


def _lines(lines: Sequence[Line]) -> Table:
    columns = (
        Column(no_wrap=True),
        Column(align="right", strong=True, no_wrap=True),
        Column(style="dim", no_wrap=True),
        Column(style="dim"),
    )
    rows = [
        (
            line.name,
            Cell(line.value, style="red" if line.name in STRONG else ""),
            line.interval,
            line.basis,
        )
        for line in lines
    ]
    return Table(columns, rows, has_head=False, indent=2)


def _grid(rows: Sequence[Mapping[str, str]]) -> Table:
    columns = [Column(name, no_wrap=name in UNBROKEN) for name in rows[0]]
    return Table(columns, [list(row.values()) for row in rows])
