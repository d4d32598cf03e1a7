"""From the rows of a table to examples, row by row: no more than one row need be in memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from brittle.data.columns import Columns
from brittle.data.dataset import labels_of
from brittle.data.example import Example, row_reader
from brittle.data.references import EmptySides
from brittle.data.stored import ExampleCollector, select
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
