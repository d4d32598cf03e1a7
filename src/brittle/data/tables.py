"""The rows of csv, tsv and jsonl files, each with its file and line; no file is held in memory.

Bytes that are not UTF-8 are read as surrogates, so that only the rows that hold them are bad.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from brittle.data.problems import RowProblems
from brittle.errors import UsageError
from brittle.safety.files import too_large, unpacked_limit

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
GZIP_MAGIC = b"\x1f\x8b"
# The csv module refuses longer cells; its own limit, 128 KB, is less than a long document.
MAX_CELL_CHARACTERS = 2**31 - 1
GZIP_BYTES = 1 << 20  # unpacked at a time
SURROGATE = 0xDC00  # Python reads a byte that is not UTF-8 as this number and the byte
_NO_TEXT = re.compile("[\udc80-\udcff]")

Note = Callable[[str, str, UsageError], None]
"""Receives a row that cannot be read: the kind of problem, its position, and the error."""


@dataclass(frozen=True)
class FileTable:
    """Column names, and rows as (file and line, cells by column); a row may lack a column.

    The whole file was read once: `problems` are the rows that cannot be read. `rows` reads it
    again, row by row, without them.
    """

    columns: tuple[str, ...]
    rows: Callable[[], Iterator[tuple[str, dict[str, object]]]]
    problems: RowProblems = field(default_factory=RowProblems)

    def column(self, name: str) -> Iterator[object]:
        """Yield the cells of a column; None where a row lacks it."""
        return (row.get(name) for _, row in self.rows())


def read_csv(path: Path) -> FileTable:
    """Load a file of separated values whose first line names the columns.

    They are separated by commas or, as spreadsheets write them in many countries, by semicolons or
    tabs: by the first of these that is in the first line and with which most rows can be read.
    """
    first_line = next(_lines(path, newline="\n"), "")
    marks = [mark for mark in SEPARATORS if mark in first_line] or [","]
    return _best(partial(_read_separated, path, mark, quoted=True) for mark in marks)


def read_tsv(path: Path) -> FileTable:
    """Load a file of tab-separated values whose first line names the columns.

    Some programs quote cells in such files, and some write quotation marks as they are. They are
    taken as quotes if the whole file can be parsed that way, else as characters.
    """
    quoted = partial(_read_separated, path, "\t", quoted=True, is_fine=_closes_its_quotes)
    return _best([quoted, partial(_read_separated, path, "\t", quoted=False)])


def _best(ways: Iterable[Callable[[], FileTable]]) -> FileTable:
    """Return the table of the way to read it with the fewest bad rows; the first of equal ones."""
    best: FileTable | None = None
    errors: list[UsageError] = []
    for way in ways:
        try:
            table = way()
        except UsageError as error:
            errors.append(error)
            continue
        if not table.problems.count:
            return table
        if best is None or table.problems.count < best.problems.count:
            best = table
    if best is None:
        raise errors[-1]
    return best


def _closes_its_quotes(cells: Iterable[str]) -> bool:
    # A stray mark that is closed some lines later swallows both tabs and line ends.
    return not any("\n" in cell and "\t" in cell for cell in cells)


def read_jsonl(path: Path) -> FileTable:
    """Load a file of JSON objects, one per line; their keys are the columns."""
    columns: dict[str, None] = {}
    problems = RowProblems()
    for _, row in _objects(path, problems.add):
        if not row.keys() <= columns.keys():
            columns.update(dict.fromkeys(row))
    return FileTable(tuple(columns), partial(_objects, path), problems)


def _objects(path: Path, note: Note | None = None) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the objects of a file, each with its line; empty lines are skipped, bad ones noted."""
    for number, line in enumerate(_lines(path, newline="\n"), start=1):
        if not line.strip():
            continue
        where, kind = f"{path}, line {number}", "json"
        try:
            if (unreadable := _NO_TEXT.search(line)) is not None:
                kind = "encoding"
                raise _not_text(path, number, unreadable[0])
            row = json.loads(line.removesuffix("\n"))
            if not isinstance(row, dict):
                raise UsageError(
                    f"{where}: this is a JSON {type(row).__name__}, expected an object such as "
                    '{"text": "a fine film", "label": "positive"}.'
                )
        except (ValueError, RecursionError) as error:
            bad = UsageError(
                f"{where}: this is not JSON ({error}). Expected one object per line, such "
                f'as {{"text": "a fine film", "label": "positive"}}.'
            )
        except UsageError as error:
            bad = error
        else:
            yield where, row
            continue
        if note is not None:
            note(kind, where, bad)


def _read_separated(
    path: Path,
    separator: str,
    quoted: bool,
    is_fine: Callable[[Iterable[str]], bool] | None = None,
) -> FileTable:
    """Read all records once; one that is not `is_fine` means that they are read in a wrong way."""
    problems = RowProblems()
    records = _records(path, separator, quoted, problems.add)
    _, header = next(records, (0, []))
    if any(map(_NO_TEXT.search, header)):
        raise _not_utf8(path)
    if any("\0" in name for name in header):
        raise UsageError(
            f"{path}: the column names contain NUL characters. {_hint(path, 'UTF-16')}"
        )
    for line, cells in records:
        if is_fine is not None and not is_fine(dict(zip(header, cells)).values()):
            raise UsageError(f"{path}, line {line}: a quotation mark is closed on another line.")
    return FileTable(tuple(header), partial(_named_records, path, separator, quoted), problems)


def _named_records(
    path: Path, separator: str, quoted: bool
) -> Iterator[tuple[str, dict[str, object]]]:
    records = _records(path, separator, quoted)
    _, header = next(records, (0, []))
    for line, cells in records:
        yield f"{path}, line {line}", dict(zip(header, cells))


def _records(
    path: Path, separator: str, quoted: bool, note: Note | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each record and the line it starts at; empty lines are skipped.

    The first record names the columns. One that cannot be read is noted and left out; an open
    quotation mark at the end of the file is an error, as nobody knows what it swallowed.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL_CHARACTERS))
    reader = csv.reader(
        _lines(path, newline=""),
        delimiter=separator,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    line, columns = 1, 0
    while True:
        kind, where, bad = "cells", f"{path}, line {line}", None
        try:
            cells = next(reader, None)
        except csv.Error as error:
            kind, bad = "quotes", _bad_quotes(where, error)
            if not columns or "end of data" in str(error):
                raise bad from None
        else:
            if cells is None:
                return
            columns = columns or len(cells)
            unreadable = _NO_TEXT.search("".join(cells)) if line > 1 else None
            if unreadable is not None:
                kind, bad = "encoding", _not_text(path, line, unreadable[0])
            elif cells and len(cells) != columns:
                bad = _other_length(where, len(cells), columns, separator)
            elif cells:
                yield line, cells
        if bad is not None and note is not None:
            note(kind, where, bad)
        line = reader.line_num + 1


def _bad_quotes(where: str, error: csv.Error) -> UsageError:
    return UsageError(
        f"{where}: the row that starts here cannot be read ({error}). Check its quotation "
        "marks: inside a quoted cell, write them twice."
    )


def _other_length(where: str, cells: int, columns: int, separator: str) -> UsageError:
    return UsageError(
        f"{where}: this row has {cells} cells, but the first line names {columns} columns. Fill in "
        f"what is missing; a cell that holds a {SEPARATORS[separator]} or a line end needs double "
        "quotes around it."
    )


def _not_text(path: Path, line: int, surrogate: str) -> UsageError:
    return UsageError(
        f"{path}, line {line}: this is not UTF-8 (byte 0x{ord(surrogate) - SURROGATE:02x}). "
        f"{_hint(path, 'LATIN1')}"
    )


def _lines(path: Path, newline: str) -> Iterator[str]:
    """Yield the lines of a file with their ends, unpacked, without a byte order mark.

    Lines end as `newline` says to `open`: "" is any line end, and all are kept as they are.
    """
    try:
        content = _open_unpacked(path)
        with io.TextIOWrapper(
            content, encoding="utf-8-sig", errors="surrogateescape", newline=newline
        ) as text:
            yield from text
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UsageError(f"{path}: this gzip file is damaged ({error}).") from error


def _open_unpacked(path: Path) -> io.BufferedReader:
    """Open a file; what is packed is unpacked as it is read."""
    file = path.open("rb")
    start = file.peek(len(GZIP_MAGIC))
    if start.startswith(GZIP_MAGIC):
        return io.BufferedReader(_Unpacked(path, file), GZIP_BYTES)
    if path.suffix.lower() == ".gz" and start:
        file.close()
        raise UsageError(
            f"{path}: this is not a gzip file. Remove .gz from its name, or compress it."
        )
    return file


class _Unpacked(io.RawIOBase):
    """The content of a gzip file; one that becomes too large is refused while it is read."""

    def __init__(self, path: Path, packed: io.BufferedReader) -> None:
        self._path, self._packed = path, packed
        self._content = gzip.GzipFile(fileobj=packed)
        self._limit, self._count = unpacked_limit(path.stat().st_size), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._content.read(len(buffer))
        self._count += len(part)
        if self._count > self._limit:
            remedy = "If you trust it, unpack it first: gunzip FILE"
            raise too_large(str(self._path), self._limit, remedy)
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._content.close()
        self._packed.close()
        super().close()


def _not_utf8(path: Path) -> UsageError:
    """Build the error for a file that is not UTF-8, with the first line that is not."""
    with _open_unpacked(path) as content:
        is_utf16 = content.peek(2).startswith((b"\xff\xfe", b"\xfe\xff"))
        for number, line in enumerate(content, start=1):
            try:
                (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).decode()
            except UnicodeDecodeError as error:
                return UsageError(
                    f"{path}, line {number}: this is not UTF-8 (byte "
                    f"0x{error.object[error.start]:02x}). "
                    f"{_hint(path, 'UTF-16' if is_utf16 else 'LATIN1')}"
                )
    return UsageError(f"{path}: this file changed while brittle read it. Try again.")


def _hint(path: Path, encoding: str) -> str:
    # iconv reads no gzip, so a packed file is named by what it unpacks to.
    name = path.name[:-3] if path.suffix.lower() == ".gz" else path.name
    return f"If it is {encoding}: iconv -f {encoding} -t UTF-8 {name} > utf8-{name}"
