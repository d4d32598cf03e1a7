"""Rows as a table in a file: CSV, JSON lines, or Markdown."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from typing import Any, TextIO


def write_rows(rows: Sequence[Mapping[str, Any]], format: str, file: TextIO) -> None:
    """Write rows with the same keys; the first row must be there."""
    if format == "jsonl":
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    elif format == "csv":
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        lines = [list(rows[0]), ["---"] * len(rows[0]), *(row.values() for row in rows)]
        file.writelines("| " + " | ".join(map(_cell, line)) + " |\n" for line in lines)


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value).replace("|", "\\|")
