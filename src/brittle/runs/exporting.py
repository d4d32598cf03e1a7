"""The rows of a run as a file: .csv, .jsonl, .parquet, and pictures as .npz."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brittle.errors import UsageError, require
from brittle.picture import Picture, stack
from brittle.safety.files import replacing, write_csv

if TYPE_CHECKING:
    from brittle.runs.run import Run


def write_rows(run: Run, out: Path, exact: bool = False) -> Path:
    """Write the rows of a run in the format that the ending of the file names."""
    writers: dict[str, Callable[[Run, Path], None]]
    writers = {".csv": partial(_csv, exact=exact), ".jsonl": _jsonl, ".parquet": _parquet}
    if run.shape is not None:
        writers[".npz"] = _npz
    writer = writers.get(out.suffix)
    if writer is None:
        *others, last = writers
        raise UsageError(
            f"Got {out.name!r} to export to; expected a name that ends in "
            f"{', '.join(others)} or {last}."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as new:
        writer(run, new)
    return out


def _csv(run: Run, out: Path, exact: bool) -> None:
    with out.open("w", newline="", encoding="utf-8", errors="replace") as file:
        write_csv(file, *run.columns_and_rows(), exact=exact)


def _jsonl(run: Run, out: Path) -> None:
    results = run.results()
    names = {*run.columns_of(results), "fields", "edits"}
    names |= {"kept"} if any(result.kept for result in results) else set()
    with out.open("w", encoding="utf-8") as file:
        for result in results:
            row = {name: value for name, value in asdict(result).items() if name in names}
            file.write(json.dumps(row) + "\n")


def _parquet(run: Run, out: Path) -> None:
    arrow = require("pyarrow", "frames", "Exporting to parquet")
    parquet = require("pyarrow.parquet", "frames", "Exporting to parquet")
    parquet.write_table(arrow.Table.from_pylist(run.rows()), out)


def _npz(run: Run, out: Path) -> None:
    """Write a picture and its adversary for every case; without an adversary, the picture again."""
    rows = run.results()
    assert run.shape is not None
    originals, adversaries = (
        stack([Picture.decode(text) for text in column], run.shape, f"The run {run.name!r}")
        for column in ([r.original for r in rows], [r.adversarial or r.original for r in rows])
    )
    names = ("case", "status", "label", "predicted", "adversarial_label")
    columns: dict[str, Any] = {
        name: np.array([str(getattr(r, name) or "") for r in rows]) for name in names
    }
    with out.open("wb") as file:  # to a path, numpy adds an ending
        np.savez_compressed(file, originals=originals, adversaries=adversaries, **columns)
