"""The texts of a study as JSON, so that its tasks hold them wherever they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from brittle.data import Dataset, Example
from brittle.data.columns import Columns
from brittle.errors import UsageError
from brittle.formatting import plural

Fields = tuple[tuple[str, str], ...]


def pack_texts(dataset: Dataset) -> dict[str, Any]:
    """Return everything of a data set that an attack needs, as JSON can hold it."""
    columns = dataset.table_columns
    return {
        "name": dataset.name,
        "split": dataset.split,
        "labels": list(dataset.labels),
        "columns": None if columns is None else asdict(columns),
        "examples": [[e.fields, e.label, e.locked] for e in dataset.examples],
    }


def unpack_texts(packed: Mapping[str, Any]) -> Dataset:
    """Return the data set of packed texts."""
    examples = tuple(
        Example(fields_of(fields), label, tuple(locked))
        for fields, label, locked in packed["examples"]
    )
    columns = packed["columns"] and Columns(
        tuple(packed["columns"]["text"]),
        packed["columns"]["label"],
        tuple(packed["columns"]["locked"]),
    )
    labels = tuple(packed["labels"])
    return Dataset(packed["name"], packed["split"], examples, labels, table_columns=columns)


def columns_of(packed: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return by the name of the data which columns are its text and its label, if it has any."""
    columns = packed["columns"]
    if columns is None:
        return {}
    return {packed["name"]: {"text": list(columns["text"]), "label": columns["label"]}}


def locked_fields(dataset: Dataset) -> tuple[str, ...]:
    """Return the fields that no attack may edit, of any example."""
    return tuple(sorted({name for example in dataset.examples for name in example.locked}))


def fields_of(pairs: Sequence[Sequence[str]]) -> Fields:
    """Return fields that were stored as JSON."""
    return tuple((name, value) for name, value in pairs)


def check_texts(dataset: Dataset, study: str = "a transfer study") -> None:
    """Refuse data without which nothing can be counted: pictures, and texts without a label."""
    if dataset.kind != "text":
        raise UsageError(
            f"The data {dataset.name!r} holds {dataset.kind}s; {study} is about texts. "
            "Name a data set of texts (brittle list data)."
        )
    unlabelled = sum(example.label is None for example in dataset.examples)
    if unlabelled:
        raise UsageError(
            f"Of the {plural(len(dataset), 'texts')} of {dataset.name!r}, {unlabelled:,} have no "
            f"label; {study} counts the texts that a target gets wrong. Name the column of the "
            "labels (--label), or other data."
        )
