"""Rows for other programs and for people: CSV, JSON lines, Markdown, or Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, require
from brittle.files import replacing
from brittle.reports.table import Column, Table
from brittle.spreadsheets import write_csv

Rows = Sequence[Mapping[str, Any]]


def write_rows(rows: Rows, path: str | Path, exact: bool = False) -> Path:
    """Write rows as .csv, .jsonl, .md or .parquet, by the ending of the file's name.

    A cell of a .csv that a spreadsheet would compute is made a text, unless it is to be `exact`.
    """
    out = Path(path)
    if out.suffix not in (".csv", ".jsonl", ".md", ".parquet"):
        raise UsageError(
            f"Got {out.name!r} to export to; expected a name that ends in .csv, .jsonl or "
            ".parquet, or in .md."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as new:
        if out.suffix == ".parquet":
            _write_parquet(rows, new)
        else:
            text = rows_as(rows, out.suffix.removeprefix("."), exact, for_files=True)
            new.write_bytes(text.encode(errors="replace"))
    return out


def rows_as(rows: Rows, format: str, exact: bool = False, for_files: bool = False) -> str:
    """Return rows with the same keys as "csv", "jsonl" or "md".

    In files that any program may read, JSON is in ASCII, and lines of CSV end as in its standard.
    """
    names = list(rows[0]) if rows else []
    if format == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=for_files) + "\n" for row in rows)
    if format == "csv":
        file = io.StringIO(newline="")
        write_csv(
            file,
            list(rows[0]) if rows else [],
            rows,
            exact=exact,
            line_end="\r\n" if for_files else "\n",
        )
        return file.getvalue()
    names = list(rows[0]) if rows else []
    columns = [Column(name, format=_in_three_digits) for name in names]
    return Table(columns, [[row[name] for name in names] for row in rows]).markdown() + "\n"


def _in_three_digits(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _write_parquet(rows: Rows, out: Path) -> None:
    arrow = require("pyarrow", "frames", "Exporting to parquet")
    parquet = require("pyarrow.parquet", "frames", "Exporting to parquet")
    parquet.write_table(arrow.Table.from_pylist(list(rows)), out)
