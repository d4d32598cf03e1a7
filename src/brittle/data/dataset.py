"""A data set: examples in a fixed order, under a name; large ones are kept in a file.

Examples of large files: kept in a temporary file, and read from it when they are asked for. A data
set: examples in a fixed order, under a name. Write examples as a table that can be loaded again:
.csv or .jsonl.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
import weakref
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import IO, Any, overload

from brittle.data.columns import Columns
from brittle.data.example import DARK, Example, dark_warning, decode_line, encode_line
from brittle.errors import UsageError
from brittle.picture import encoded_shape
from brittle.safety.files import replacing, write_csv

# A row in memory takes about 500 bytes beside its texts: these are at most about 50 MB.
MAX_ROWS_IN_MEMORY, MAX_CHARACTERS_IN_MEMORY = 20_000, 1 << 24
ROWS_PER_READ = 512


class StoredRows:
    """A temporary file without a name, with a line for each example.

    `starts` has the position of every line, and the end of the last.
    """

    def __init__(self) -> None:
        self.starts = array("Q", [0])
        self.file: IO[bytes] = tempfile.TemporaryFile(prefix="brittle-rows-")  # noqa: SIM115
        self.lock = threading.Lock()
        weakref.finalize(self, self.file.close)

    def add(self, example: Example) -> None:
        """Write an example after the others."""
        line = encode_line(example)
        self.file.write(line)
        self.starts.append(self.starts[-1] + len(line))

    def read(self, first: int, count: int = 1) -> bytes:
        """Load the lines of so many examples that were written one after another."""
        start, end = self.starts[first], self.starts[first + count]
        with self.lock:
            self.file.seek(start)
            return self.file.read(end - start)


class StoredExamples(Sequence[Example]):
    """Stored rows in some order; an example is read each time it is asked for."""

    def __init__(self, rows: StoredRows, order: Sequence[int] | None = None) -> None:
        self.rows = rows
        self.order = range(len(rows.starts) - 1) if order is None else order

    def __len__(self) -> int:
        return len(self.order)

    @overload
    def __getitem__(self, key: int) -> Example: ...

    @overload
    def __getitem__(self, key: slice) -> Sequence[Example]: ...

    def __getitem__(self, key: int | slice) -> Example | Sequence[Example]:
        if isinstance(key, slice):
            return select(self, range(len(self))[key])
        return decode_line(self.rows.read(self.order[key]))

    def __iter__(self) -> Iterator[Example]:
        for lines in self.lines():
            yield from map(decode_line, lines.splitlines(keepends=True))

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the examples, as `encode_line` makes them, one or many at a time."""
        if isinstance(self.order, range) and self.order.step == 1:
            for start in range(0, len(self.order), ROWS_PER_READ):
                part = self.order[start : start + ROWS_PER_READ]
                yield self.rows.read(part[0], len(part))
        else:
            yield from map(self.rows.read, self.order)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(own == theirs for own, theirs in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"StoredExamples({len(self)} rows)"

    def __reduce__(self) -> tuple[type[tuple[Any, ...]], tuple[list[Example]]]:
        """Travel by content: another process has no such file."""
        return tuple, (list(self),)


class ExampleCollector:
    """Collects examples in memory while they are few, and in a temporary file from then on."""

    def __init__(self) -> None:
        self.examples: list[Example] = []
        self.characters = 0
        self.rows: StoredRows | None = None

    def add(self, example: Example) -> None:
        if self.rows is not None:
            self._write([example])
            return
        self.examples.append(example)
        self.characters += sum(len(text) for _, text in example.fields)
        if len(self.examples) > MAX_ROWS_IN_MEMORY or self.characters > MAX_CHARACTERS_IN_MEMORY:
            self._write(self.examples)
            self.examples = []

    def collected(self) -> Sequence[Example]:
        """Return all examples, in their order."""
        return tuple(self.examples) if self.rows is None else StoredExamples(self.rows)

    def _write(self, examples: Sequence[Example]) -> None:
        try:
            if self.rows is None:
                self.rows = StoredRows()
            for example in examples:
                self.rows.add(example)
        except OSError as error:
            raise UsageError(
                "The data are too large to be kept in memory, and cannot be written to "
                f"the temporary folder {tempfile.gettempdir()} "
                f"({error.strerror or error}). Free some space there, or choose another "
                "folder: TMPDIR=FOLDER."
            ) from error


def lines_of(examples: Sequence[Example]) -> Iterator[bytes]:
    """Yield the lines of examples, as `encode_line` makes them, one or many at a time."""
    if isinstance(examples, StoredExamples):
        return examples.lines()
    return map(encode_line, examples)


def select(examples: Sequence[Example], indices: Sequence[int]) -> Sequence[Example]:
    """Return the examples at these indices; many of stored ones stay where they are."""
    if not isinstance(examples, StoredExamples) or len(indices) <= MAX_ROWS_IN_MEMORY:
        return tuple(examples[i] for i in indices)
    order = examples.order
    if isinstance(order, range) and isinstance(indices, range):
        start, step = order[indices[0]], order.step * indices.step
        return StoredExamples(examples.rows, range(start, start + step * len(indices), step))
    return StoredExamples(examples.rows, array("Q", (order[i] for i in indices)))


@dataclass(frozen=True)
class Dataset:
    """Examples in a fixed order; `labels` are the names of the classes, () when unlabelled.

    `warnings` are reasons to doubt that the data was meant to be taken like this. `kind` names the
    kind of items that the examples become: text or picture. `table_columns` are those that the
    examples were read from, if they stood in a table. `left_out` is how many bad rows of the table
    were left out, by what is wrong with them; `skips_bad` says that the user asked for it.
    """

    name: str
    split: str
    examples: Sequence[Example]
    labels: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    kind: str = "text"
    table_columns: Columns | None = None
    left_out: tuple[tuple[str, int], ...] = ()
    skips_bad: bool = False

    def __post_init__(self) -> None:
        if not self.holds_pictures:
            return
        # Here, since pictures come from files, folders and arrays, and no picture alone can tell.
        warning = dark_warning(example.fields[0][1] for example in self.examples)
        if warning is not None and not any(known.startswith(DARK) for known in self.warnings):
            object.__setattr__(self, "warnings", (*self.warnings, warning))

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    @cached_property
    def label_counts(self) -> Counter[str | None]:
        """How many examples have each label, or none."""
        return Counter(example.label for example in self.examples)

    @property
    def holds_pictures(self) -> bool:
        return self.kind == "picture"

    @property
    def shape(self) -> tuple[int, int, int] | None:
        """The height, width and channels of its pictures; None if they are texts."""
        if not (self.holds_pictures and self.examples):
            return None
        return encoded_shape(self.examples[0].fields[0][1])

    @property
    def open_columns(self) -> Columns | None:
        """The columns of the fields that attacks may edit, and of the label; None if not known."""
        columns = self.table_columns
        if columns is None:
            names = tuple(name for name, _ in self.examples[0].fields) if self.examples else ()
            if len(names) < 2:  # a lone field has one name, whatever its column was called
                return None
            columns = Columns(names, None, self.examples[0].locked)
        return Columns(tuple(n for n in columns.text if n not in columns.locked), columns.label)

    def take(self, limit: int | None, seed: int = 0) -> Dataset:
        """Return the first `limit` examples of a seeded permutation; a larger limit adds to them.

        None returns everything, in the data's own order.
        """
        return self if limit is None else self.select(self.rows_taken(limit, seed))

    def rows_taken(self, limit: int | None, seed: int = 0) -> Sequence[int]:
        """Return the numbers of the examples that `take` takes."""
        if limit is None:
            return range(len(self.examples))
        if limit < 1:
            raise UsageError(f"The limit is {limit}. Expected at least 1, or None.")
        order = array("Q", range(len(self.examples)))
        Random(f"take:{seed}").shuffle(order)
        return order[:limit]

    def select(self, indices: Sequence[int]) -> Dataset:
        """Return the data set of the examples at these indices, in this order."""
        return replace(self, examples=select(self.examples, indices))

    def without(self, labels: Sequence[str], why: str) -> Dataset:
        """Return the data set without the examples of these labels, if any others are left."""
        kept = [i for i, example in enumerate(self.examples) if example.label not in labels]
        if len(kept) in (0, len(self.examples)):
            return self
        count = len(self.examples) - len(kept)
        warning = (
            f"{self.name}: {count:,} of {len(self.examples):,} rows have {why} "
            f"({', '.join(map(repr, labels))}) and are left out by --skip-bad."
        )
        return replace(
            self.select(kept),
            labels=tuple(label for label in self.labels if label not in labels),
            warnings=(*self.warnings, warning),
            left_out=(*self.left_out, (why, count)),
        )

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the examples, in order."""
        digest = hashlib.sha256()
        for lines in lines_of(self.examples):
            digest.update(lines)
        return digest.hexdigest()


def labels_of(examples: Iterable[Example]) -> tuple[str, ...]:
    """List the classes that occur, in alphabetical order."""
    return tuple(sorted({example.label for example in examples if example.label is not None}))


ENDINGS = (".csv", ".jsonl")


def check_table_path(path: Path) -> None:
    """Refuse a file whose ending is unknown, or whose folder is missing."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"Got the file {path}. Expected a name that ends in .csv or .jsonl.")
    if not path.parent.is_dir():
        raise UsageError(
            f"The folder {path.parent} for the file {path.name} does not exist. Create it."
        )


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
