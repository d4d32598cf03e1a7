"""CSV files that spreadsheet programs can open: no cell is a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so is computed, and may start a program or send the other cells away."""


def as_cell(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would compute; numbers stay as they are.

    >>> as_cell("=1+1"), as_cell("a=b"), as_cell(-1.5)
    ("'=1+1", 'a=b', -1.5)
    """
    is_formula = isinstance(value, str) and value.startswith(FORMULA_STARTS)
    return f"'{value}" if is_formula else value


def write_csv(
    file: TextIO,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    *,
    exact: bool = False,
    line_end: str = "\r\n",
) -> None:
    """Write rows below the names of their columns; with `exact`, formulas stay what they are."""
    writer = csv.DictWriter(file, columns, lineterminator=line_end)
    writer.writeheader()
    for row in rows:
        writer.writerow(row if exact else {name: as_cell(value) for name, value in row.items()})
