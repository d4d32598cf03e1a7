"""Data sets of a data hub, or of a folder, loaded by the `datasets` library."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brittle.data.columns import Columns, choose
from brittle.data.dataset import Dataset
from brittle.data.example import class_names, named_rows
from brittle.data.rows import MAX_ROWS_LOOKED_AT, read_rows, unused_labels
from brittle.errors import UsageError, require, unknown

PLAIN_FEATURES = ("Value", "ClassLabel")
PREFIX = "hf:"


def load(
    source: str,
    split: str | None = None,
    text: Sequence[str] | None = None,
    label: str | None = None,
    locked: Sequence[str] = (),
    skip_bad: bool = False,
) -> Dataset:
    """Load `hf:NAME`, `hf:NAME:CONFIG` or `hf:FOLDER`.

    The split is "test" unless another is named or there is only one. Labels that are numbers with
    declared names become these names.
    """
    name, config = parse(source)
    split, table = _load_table(source, name, config, split)
    columns = choose(source, table.column_names, text, label, locked)
    _check_features(source, table.features, columns)
    rows = named_rows(table, columns, lambda i: f"{source}, split {split}, row {i + 1}")
    if not rows:
        raise UsageError(f"{source} has no examples in the split {split!r}.")
    read = read_rows(source, rows, columns, skip_bad=skip_bad)
    labels = class_names(table, columns.label) or read.labels
    # Strings and numbers only: to look at pictures or sounds would decode them.
    plain = [name for name, kind in table.features.items() if type(kind).__name__ in PLAIN_FEATURES]
    first = table.select(range(min(len(table), MAX_ROWS_LOOKED_AT)))
    unused = unused_labels(source, columns, plain, first.__getitem__) if label is None else ()
    return Dataset(
        source,
        split,
        read.examples,
        labels,
        read.warnings + unused,
        table_columns=columns,
        left_out=tuple(read.left_out.items()),
        skips_bad=skip_bad,
    )


def _check_features(source: str, features: Mapping[str, Any], columns: Columns) -> None:
    """Refuse columns that hold no strings or numbers: to look at pictures opens any format."""
    for name in (*columns.text, *filter(None, [columns.label])):
        kind = type(features[name]).__name__
        if kind not in PLAIN_FEATURES:
            raise UsageError(
                f"{source}: the column {name!r} is of the type {kind}. Expected strings, or "
                "numbers for a label. Name another column; pictures are read from a folder "
                "(without hf:) or an .npz file."
            )


def parse(source: str) -> tuple[str, str | None]:
    """Parse `hf:NAME:CONFIG` into name and configuration; an existing folder is a name as it is."""
    rest = source.removeprefix(PREFIX)
    if rest and Path(rest).expanduser().is_dir():
        return str(Path(rest).expanduser()), None
    name, _, config = rest.partition(":")
    if not name:
        raise UsageError(f"{source!r} does not name a data set. Expected hf:NAME, hf:NAME:CONFIG.")
    if name.startswith((".", "/", "~")) and not Path(name).expanduser().is_dir():
        raise UsageError(f"There is no folder {name}. Expected hf:FOLDER or the hub's hf:NAME.")
    return name, config or None


def _load_table(source: str, name: str, config: str | None, split: str | None) -> tuple[str, Any]:
    datasets = require("datasets", "hub", f"Loading {source}")
    options: dict[str, Any] = {}
    if "trust_remote_code" in inspect.signature(datasets.load_dataset).parameters:
        # Older versions would run a data set's own script after asking on the terminal.
        options["trust_remote_code"] = False
    try:
        tables = datasets.load_dataset(name, config, **options)
    except Exception as error:  # the library raises its own, the hub's and the network's errors
        message = " ".join(str(error).split())
        raise UsageError(
            f"{source} cannot be loaded ({type(error).__name__}: {message}). Check the name and "
            "the connection; without one, give a folder (hf:FOLDER) or a file."
        ) from error
    splits = [str(known) for known in tables]
    if split is None:
        split = splits[0] if len(splits) == 1 else "test"
    if split not in splits:
        raise unknown(f"split of {source}:", split, splits, "Choose one with --split NAME.")
    return split, tables[split]
