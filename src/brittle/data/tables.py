"""The rows of csv, tsv and jsonl files, each with its file and line; no file is held in memory."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from brittle.errors import UsageError
from brittle.safety.files import too_large, unpacked_limit

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
GZIP_MAGIC = b"\x1f\x8b"
# The csv module refuses longer cells; its own limit, 128 KB, is less than a long document.
MAX_CELL_CHARACTERS = 2**31 - 1
GZIP_BYTES = 1 << 20  # unpacked at a time


@dataclass(frozen=True)
class FileTable:
    """Column names, and rows as (file and line, cells by column); a row may lack a column.

    The whole file was read once, so that it has no damaged row; `rows` reads it again, row by row.
    """

    columns: tuple[str, ...]
    rows: Callable[[], Iterator[tuple[str, dict[str, object]]]]

    def column(self, name: str) -> Iterator[object]:
        """Yield the cells of a column; None where a row lacks it."""
        return (row.get(name) for _, row in self.rows())


def read_csv(path: Path) -> FileTable:
    """Load a file of separated values whose first line names the columns.

    They are separated by commas or, as spreadsheets write them in many countries, by semicolons or
    tabs: by the first of these that is in the first line and with which all rows can be read.
    """
    first_line = next(_lines(path, newline="\n"), "")
    errors = []
    for separator in [mark for mark in SEPARATORS if mark in first_line] or [","]:
        try:
            return _read_separated(path, separator, quoted=True)
        except UsageError as error:
            errors.append(error)
    _check_text(path)
    raise errors[0]


def read_tsv(path: Path) -> FileTable:
    """Load a file of tab-separated values whose first line names the columns.

    Some programs quote cells in such files, and some write quotation marks as they are. They are
    taken as quotes if the whole file can be parsed that way, else as characters.
    """
    try:
        return _read_separated(path, "\t", quoted=True, is_fine=_closes_its_quotes)
    except UsageError:
        pass
    try:
        return _read_separated(path, "\t", quoted=False)
    except UsageError:
        _check_text(path)
        raise


def _closes_its_quotes(cells: Iterable[str]) -> bool:
    # A stray mark that is closed some lines later swallows both tabs and line ends.
    return not any("\n" in cell and "\t" in cell for cell in cells)


def read_jsonl(path: Path) -> FileTable:
    """Load a file of JSON objects, one per line; their keys are the columns."""
    columns: dict[str, None] = {}
    try:
        for _, row in _objects(path):
            if not row.keys() <= columns.keys():
                columns.update(dict.fromkeys(row))
    except UsageError:
        _check_text(path)
        raise
    return FileTable(tuple(columns), partial(_objects, path))


def _objects(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the objects of a file, each with its line; empty lines are skipped."""
    for number, line in enumerate(_lines(path, newline="\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line.removesuffix("\n"))
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{where}: this is not JSON ({error}). Expected one object a line, such as "
                '{"text": "a fine film", "label": "positive"}.'
            ) from None
        if not isinstance(row, dict):
            raise UsageError(
                f"{where}: this is a JSON {type(row).__name__}, expected an object such as "
                '{"text": "a fine film", "label": "positive"}.'
            )
        yield where, row


def _read_separated(
    path: Path,
    separator: str,
    quoted: bool,
    is_fine: Callable[[Iterable[str]], bool] | None = None,
) -> FileTable:
    """Read all records once; those that cannot be read, or are not `is_fine`, are an error."""
    records = _records(path, separator, quoted)
    _, header = next(records, (0, []))
    if any("\0" in name for name in header):
        raise UsageError(f"{path}: the column names hold NUL characters. {_hint(path, 'UTF-16')}")
    for line, cells in records:
        if is_fine is not None and not is_fine(dict(zip(header, cells)).values()):
            raise UsageError(f"{path}, line {line}: a quotation mark is closed in another line.")
    return FileTable(tuple(header), partial(_named_records, path, separator, quoted))


def _named_records(
    path: Path, separator: str, quoted: bool
) -> Iterator[tuple[str, dict[str, object]]]:
    records = _records(path, separator, quoted)
    _, header = next(records, (0, []))
    for line, cells in records:
        yield f"{path}, line {line}", dict(zip(header, cells))


def _records(path: Path, separator: str, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each record and the line it starts at; empty lines are skipped.

    The first record names the columns. One with another number of cells is an error.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL_CHARACTERS))
    reader = csv.reader(
        _lines(path, newline=""),
        delimiter=separator,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    line, columns = 1, 0
    try:
        for cells in reader:
            if cells:
                columns = columns or len(cells)
                if len(cells) != columns:
                    raise _other_length(f"{path}, line {line}", len(cells), columns, separator)
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(
            f"{path}, line {line}: the row that starts here cannot be read ({error}). "
            "Check its quotation marks: inside a quoted cell they are doubled."
        ) from None


def _other_length(where: str, cells: int, columns: int, separator: str) -> UsageError:
    return UsageError(
        f"{where}: this row has {cells} cells, but the first line names {columns} columns. Fill in "
        f"what is missing; a cell that holds a {SEPARATORS[separator]} or a line end needs double "
        "quotes around it."
    )


def _check_text(path: Path) -> None:
    """Raise an error if a file cannot be unpacked or is not UTF-8, wherever that is in it.

    This is the better reason why a row cannot be read, and comes first.
    """
    for _ in _lines(path, newline="\n"):
        pass


def _lines(path: Path, newline: str) -> Iterator[str]:
    """Yield the lines of a file with their ends, unpacked, without a byte order mark.

    Lines end as `newline` says to `open`: "" is any line end, and all are kept as they are.
    """
    try:
        content = _open_unpacked(path)
        with io.TextIOWrapper(content, encoding="utf-8-sig", newline=newline) as text:
            yield from text
    except UnicodeDecodeError:
        raise _not_utf8(path) from None
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
        raise UsageError(f"{path}: this is no gzip file. Remove .gz from its name, or pack it.")
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
    return UsageError(f"{path}: this file changes while it is read. Try again.")


def _hint(path: Path, encoding: str) -> str:
    # iconv reads no gzip, so a packed file is named by what it unpacks to.
    name = path.name[:-3] if path.suffix.lower() == ".gz" else path.name
    return f"If it is {encoding}: iconv -f {encoding} -t UTF-8 {name} > utf8-{name}"
