"""Examples of large files: kept in a temporary file, and read from it when they are asked for."""

from __future__ import annotations

import tempfile
import threading
import weakref
from array import array
from collections.abc import Iterator, Sequence
from typing import IO, Any, overload

from brittle.data.example import Example, decode_line, encode_line
from brittle.errors import UsageError

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
                "The data are too large to be kept in memory, and cannot be written to the "
                f"temporary folder {tempfile.gettempdir()} ({error.strerror or error}). Make room "
                "there, or name another folder: TMPDIR=FOLDER."
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
