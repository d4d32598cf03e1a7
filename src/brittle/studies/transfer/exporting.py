"""The rows of a transfer study for other programs: one a cell, or one an adversarial text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, require
from brittle.files import replacing
from brittle.spreadsheets import write_csv
from brittle.studies.transfer.showing import fooling_texts, rate_matrix
from brittle.studies.transfer.study import TransferStudy
from brittle.text import Text

Rows = Sequence[Mapping[str, Any]]


def export_study(
    study: TransferStudy, path: str | Path, texts: bool = False, exact: bool = False
) -> Path:
    """Write the cells of a study, or its texts, as .csv, .jsonl or .parquet."""
    return write_rows(text_rows(study) if texts else cell_rows(study), path, exact)


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


def cell_rows(study: TransferStudy) -> list[dict[str, Any]]:
    """Return one row for every source and target; an empty cell has no rates.

    `count` is the number of the source's texts, `count_of_right` of those the target had right.
    """
    matrix = rate_matrix(study)
    return [
        {
            "source": source.name,
            "target": target.name,
            "rate": _number(matrix.rate[i, j]),
            "rate_of_right": _number(matrix.rate_of_right[i, j]),
            "count": int(matrix.texts[i]),
            "count_of_right": int(matrix.right[i, j]),
            "is_base": source.name == target.name,
            **{f"source_{by}": name for by, name in source.classes.items()},
            **{f"target_{by}": name for by, name in target.classes.items()},
        }
        for i, source in enumerate(matrix.sources)
        for j, target in enumerate(matrix.targets)
    ]


def text_rows(study: TransferStudy) -> list[dict[str, Any]]:
    """Return one row for every adversarial text, with the number of targets it fools."""
    return [
        {
            "source": text.source,
            "case": text.case,
            "label": text.label,
            "original": Text.of(dict(text.original)).render(),
            "adversarial": Text.of(dict(text.adversarial)).render(),
            "fooled": text.fooled,
            "targets": text.targets,
        }
        for text in fooling_texts(study)
    ]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _csv(rows: Rows, out: Path, exact: bool) -> None:
    with out.open("w", newline="", encoding="utf-8", errors="replace") as file:
        write_csv(file, list(rows[0]) if rows else [], rows, exact=exact)


def _jsonl(rows: Rows, out: Path) -> None:
    out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _parquet(rows: Rows, out: Path) -> None:
    arrow = require("pyarrow", "frames", "Exporting to parquet")
    parquet = require("pyarrow.parquet", "frames", "Exporting to parquet")
    parquet.write_table(arrow.Table.from_pylist(list(rows)), out)
