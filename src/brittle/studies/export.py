"""Rows for other programs: .csv, .jsonl, .parquet, or Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, require
from brittle.files import replacing
from brittle.spreadsheets import write_csv

Rows = Sequence[Mapping[str, Any]]


def write_rows(rows: Rows, path: str | Path, exact: bool = False) -> Path:
    """Write rows as .csv, .jsonl or .parquet, by the ending of the file's name."""
    out = Path(path)
    writers: dict[str, Callable[[Rows, Path], None]]
    writers = {".csv": partial(_csv, exact=exact), ".jsonl": _jsonl, ".parquet": _parquet}
    if out.suffix not in writers:
        raise UsageError(
            f"Got {out.name!r} to export to; expected a name that ends in .csv, .jsonl or .parquet."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as new:
        writers[out.suffix](rows, new)
    return out


def _csv(rows: Rows, out: Path, exact: bool) -> None:
    with out.open("w", newline="", encoding="utf-8", errors="replace") as file:
        write_csv(file, list(rows[0]) if rows else [], rows, exact=exact)


def _jsonl(rows: Rows, out: Path) -> None:
    out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _parquet(rows: Rows, out: Path) -> None:
    arrow = require("pyarrow", "frames", "Exporting to parquet")
    parquet = require("pyarrow.parquet", "frames", "Exporting to parquet")
    parquet.write_table(arrow.Table.from_pylist(list(rows)), out)
