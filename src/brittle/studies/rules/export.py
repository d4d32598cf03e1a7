"""Rows as a table in a file: CSV, JSON lines, or Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from brittle.spreadsheets import write_csv


def write_rows(
    rows: Sequence[Mapping[str, Any]], format: str, file: TextIO, exact: bool = False
) -> None:
    """Write rows with the same keys; the first row must be there."""
    if format == "jsonl":
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    elif format == "csv":
        write_csv(file, list(rows[0]), rows, exact=exact, line_end="\n")
    else:
        lines = [list(rows[0]), ["---"] * len(rows[0]), *(row.values() for row in rows)]
        file.writelines("| " + " | ".join(map(_cell, line)) + " |\n" for line in lines)


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value).replace("|", "\\|")
