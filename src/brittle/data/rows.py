"""From the rows of a table to examples, with a warning for labels that nobody named.

From the rows of a table to examples, row by row: no more than one row need be in memory. Warnings
for data that counts as unlabelled though one of its columns could hold the labels.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from brittle.data.columns import LABEL_NAME, Columns, EmptySides
from brittle.data.dataset import ExampleCollector, labels_of, select
from brittle.data.example import Example, frame_columns, is_frame, row_reader
from brittle.errors import UsageError

MAX_CLASSES = 1000
"""So many labels are noted while rows are read; where there are more, they are texts, and long."""

Row = tuple[str, Mapping[str, object]]
"""The words that name a row in messages, and its cells by column."""


@dataclass(frozen=True)
class ReadRows:
    """The examples of a table, their classes in alphabetical order, and warnings."""

    examples: Sequence[Example]
    labels: tuple[str, ...]
    warnings: tuple[str, ...]


def read_rows(where: str, rows: Iterable[Row], columns: Columns) -> ReadRows:
    """Build examples from rows, and warn of those with an empty side, or leave these out.

    Which rows count is known only after the last one. So a row that is no example is an error at
    the end, and none if it is left out.
    """
    read, sides, collector = row_reader(columns), EmptySides(columns), ExampleCollector()
    labels, whole = set[str](), array("Q")
    first_error: UsageError | None = None
    first_error_in_whole: UsageError | None = None
    count = 0
    for place, row in rows:
        is_whole = sides.add(row)
        try:
            example = read(place, row)
        except UsageError as error:
            first_error = first_error or error
            first_error_in_whole = first_error_in_whole or (error if is_whole else None)
            continue
        collector.add(example)
        if example.label is not None and len(labels) <= MAX_CLASSES:
            labels.add(example.label)
        if is_whole:
            whole.append(count)
        count += 1
    examples = collector.collected()
    if sides.are_left_out:
        first_error, examples = first_error_in_whole, select(examples, whole)
    if first_error is not None:
        raise first_error
    is_known = len(labels) <= MAX_CLASSES and not sides.are_left_out
    classes = tuple(sorted(labels)) if is_known else labels_of(examples)
    return ReadRows(examples, classes, sides.warnings(where))


USUAL_NAMES = {
    *("label", "labels", "sentiment", "class", "classes", "category", "categories", "target", "y"),
    *("gold", "polarity", "topic", "intent", "emotion", "stars", "rating", "score", "spam"),
    *("toxic", "language", "lang"),
}
MAX_LABEL_VALUES = 20
MIN_ROWS_PER_CLASS = 10  # of a column that only its few values make a possible label
MAX_VALUE_CHARACTERS = 40
MAX_ROWS_LOOKED_AT = 1000
MAX_COLUMNS_SHOWN, MAX_VALUES_SHOWN = 3, 4


def unused_labels(
    where: str,
    columns: Columns,
    available: Iterable[str],
    values_of: Callable[[str], Iterable[object]],
) -> tuple[str, ...]:
    """Warn if there is no label column, but another column that could be it."""
    if columns.label is not None:
        return ()
    unused = [name for name in available if name not in columns.text]
    possible = _describe_possible(
        {name: list(islice(values_of(name), MAX_ROWS_LOOKED_AT)) for name in unused}
    )
    if not possible:
        return ()
    return (
        f"{where}: there is no column {LABEL_NAME!r}, so the data counts as unlabelled and the "
        f"figures are agreement with the target's own predictions. Could these be the labels: "
        f"{possible}? Name the column with --label COLUMN (in Python "
        "data.load(…, label='COLUMN'), or rename it), or say --label '' if there are none.",
    )


def unused_labels_of(data: Any, examples: Sequence[Example]) -> tuple[str, ...]:
    """Warn likewise of examples made of Python objects: a data frame, or dicts of named fields."""
    if any(example.label is not None for example in examples):
        return ()
    if is_frame(data):
        names, columns = frame_columns(data)
        return unused_labels(f"The {type(data).__name__}", columns, names, data.__getitem__)
    values: dict[str, list[object]] = {}
    for example in examples:
        for name, value in example.fields if len(example.fields) > 1 else ():
            values.setdefault(name, []).append(value)
    possible = _describe_possible(values, by_name_only=True)
    if not possible:
        return ()
    return (
        f"The examples have no key {LABEL_NAME!r}, so they count as unlabelled, and every field is "
        f"text that may be edited. Could these be the labels: {possible}? Rename the key to "
        f"{LABEL_NAME!r}.",
    )


def could_be_label(name: str, values: Sequence[object], by_name_only: bool = False) -> bool:
    """Tell whether a column could hold labels: a usual name, or few short values that repeat.

    >>> could_be_label("Gold_Label", ["a", "b"]), could_be_label("id", ["1", "2"])
    (True, False)
    >>> could_be_label("mood", ["sad", "glad"] * 20), could_be_label("mood", ["sad", "glad"])
    (True, False)
    """
    distinct = _distinct(values)
    has_usual_name = not USUAL_NAMES.isdisjoint(re.split(r"[\W_]+", name.casefold()))
    if has_usual_name and distinct:
        return len(distinct) <= max(MAX_LABEL_VALUES, len(values) // 2)
    is_few = 2 <= len(distinct) <= min(MAX_LABEL_VALUES, len(values) // MIN_ROWS_PER_CLASS)
    return not by_name_only and is_few and max(map(len, distinct)) <= MAX_VALUE_CHARACTERS


def _describe_possible(values: dict[str, list[object]], by_name_only: bool = False) -> str:
    names = [name for name in values if could_be_label(name, values[name], by_name_only)]
    shown = []
    for name in names[:MAX_COLUMNS_SHOWN]:
        distinct = _distinct(values[name])
        more = ", …" if len(distinct) > MAX_VALUES_SHOWN else ""
        examples = [value[:MAX_VALUE_CHARACTERS] for value in distinct[:MAX_VALUES_SHOWN]]
        shown.append(f"{name!r} ({', '.join(examples)}{more})")
    return ", ".join(shown)


def _distinct(values: Sequence[object]) -> list[str]:
    """List the values that occur, as strings, in the order of their first occurrence."""
    return list(dict.fromkeys(str(value) for value in values if value is not None))
