"""Write examples as a table that can be loaded again: .csv or .jsonl."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from brittle.data.dataset import Dataset
from brittle.data.example import Example
from brittle.errors import UsageError
from brittle.files import replacing
from brittle.spreadsheets import write_csv

ENDINGS = (".csv", ".jsonl")


def check_table_path(path: Path) -> None:
    """Refuse a file whose ending is unknown, or whose folder is missing."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"Got the file {path}. Expected a name that ends in .csv or .jsonl.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent} for the file {path.name}. Create it.")


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows as the ending of the file says: either all of them, or no file.

    Cells are written exactly: an apostrophe before a formula would be learnt.
    """
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="") as file:
        if path.suffix.lower() == ".csv":
            write_csv(file, columns, rows, exact=True, line_end="\n")
            return
        for row in rows:
            cells = {name: row[name] for name in columns}
            file.write(json.dumps(cells, ensure_ascii=False) + "\n")


class ExampleColumns:
    """The columns of a data set's examples: those that it was read from, if it was a table."""

    def __init__(self, dataset: Dataset) -> None:
        columns = dataset.table_columns
        names = [name for name, _ in dataset.examples[0].fields]
        self.text = list(columns.text) if columns is not None else names
        label = columns.label if columns is not None else "label"
        self.label = label if dataset.labels else None
        self.names = [*self.text, *([self.label] if self.label else [])]

    def row(self, example: Example) -> dict[str, object]:
        """Return the cells of an example, by column."""
        cells: dict[str, object] = dict(zip(self.text, (value for _, value in example.fields)))
        if self.label:
            cells[self.label] = example.label
        return cells
