"""The rows of csv, tsv, jsonl and parquet files, each with its file and line or row."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, require
from brittle.unpacking import too_large, unpacked_limit

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
GZIP_MAGIC = b"\x1f\x8b"
# The csv module refuses longer cells; its own limit, 128 KB, is less than a long document.
MAX_CELL_CHARACTERS = 2**31 - 1
GZIP_BYTES, PARQUET_ROWS = 1 << 20, 1024  # unpacked at a time


@dataclass(frozen=True)
class Table:
    """Column names, and rows as (file and line, cells by column); a row may lack a column."""

    columns: tuple[str, ...]
    rows: list[tuple[str, dict[str, object]]]

    def column(self, name: str) -> list[object]:
        """List the cells of a column; None where a row lacks it."""
        return [row.get(name) for _, row in self.rows]


def read_csv(path: Path) -> Table:
    """Load a file of separated values whose first line names the columns.

    They are separated by commas or, as spreadsheets write them in many countries, by semicolons or
    tabs: by the first of these that is in the first line and with which all rows can be read.
    """
    text = _read_text(path)
    first_line = text.partition("\n")[0]
    errors = []
    for separator in [mark for mark in SEPARATORS if mark in first_line] or [","]:
        try:
            return _parse_separated(path, text, separator, quoted=True)
        except UsageError as error:
            errors.append(error)
    raise errors[0]


def read_tsv(path: Path) -> Table:
    """Load a file of tab-separated values whose first line names the columns.

    Some programs quote cells in such files, and some write quotation marks as they are. They are
    taken as quotes if the whole file can be parsed that way, else as characters.
    """
    text = _read_text(path)
    if '"' in text:
        try:
            table = _parse_separated(path, text, "\t", quoted=True)
        except UsageError:
            pass
        else:
            # A stray mark that is closed some lines later swallows both tabs and line ends.
            cells = (str(cell) for _, row in table.rows for cell in row.values())
            if not any("\t" in cell and "\n" in cell for cell in cells):
                return table
    return _parse_separated(path, text, "\t", quoted=False)


def read_jsonl(path: Path) -> Table:
    """Load a file of JSON objects, one per line; their keys are the columns."""
    columns: dict[str, None] = {}
    rows: list[tuple[str, dict[str, object]]] = []
    for number, line in enumerate(_read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
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
        columns.update(dict.fromkeys(row))
        rows.append((where, row))
    return Table(tuple(columns), rows)


def read_parquet(path: Path) -> Table:
    """Load a parquet file."""
    parquet = require("pyarrow.parquet", "frames", "Reading parquet files")
    arrow = require("pyarrow", "frames", "Reading parquet files")
    try:
        table = _unpack_parquet(path, parquet, arrow)
    except (arrow.ArrowException, OSError) as error:
        raise UsageError(f"{path}: this cannot be read as parquet ({error}).") from error
    names = tuple(str(name) for name in table.column_names)
    cells = [column.to_pylist() for column in table.columns]
    rows = [(f"{path}, row {i}", dict(zip(names, row))) for i, row in enumerate(zip(*cells), 1)]
    return Table(names, rows)


TABLE_READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": read_csv,
    ".tsv": read_tsv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".csv.gz": read_csv,
    ".tsv.gz": read_tsv,
    ".jsonl.gz": read_jsonl,
    ".ndjson.gz": read_jsonl,
    ".parquet": read_parquet,
}


def _parse_separated(path: Path, text: str, separator: str, quoted: bool) -> Table:
    records = _records(path, text, separator, quoted)
    _, header = next(records, (0, []))
    if any("\0" in name for name in header):
        raise UsageError(f"{path}: the column names hold NUL characters. {_hint(path, 'UTF-16')}")
    rows: list[tuple[str, dict[str, object]]] = []
    for line, cells in records:
        where = f"{path}, line {line}"
        if len(cells) != len(header):
            raise UsageError(
                f"{where}: this row has {len(cells)} cells, but the first line names "
                f"{len(header)} columns. Fill in what is missing; a cell that holds a "
                f"{SEPARATORS[separator]} or a line end needs double quotes around it."
            )
        rows.append((where, dict(zip(header, cells))))
    return Table(tuple(header), rows)


def _records(
    path: Path, text: str, separator: str, quoted: bool
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each record and the line it starts at; empty lines are skipped."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL_CHARACTERS))
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(
            f"{path}, line {line}: the row that starts here cannot be read ({error}). "
            "Check its quotation marks: inside a quoted cell they are doubled."
        ) from None


def _read_text(path: Path) -> str:
    """Return the text of a file, unpacked, without a byte order mark."""
    content = path.read_bytes()
    if content.startswith(GZIP_MAGIC):
        try:
            content = _gunzip(path, content)
        except (OSError, EOFError, zlib.error) as error:
            raise UsageError(f"{path}: this gzip file is damaged ({error}).") from error
    elif path.suffix.lower() == ".gz" and content:
        raise UsageError(f"{path}: this is no gzip file. Remove .gz from its name, or pack it.")
    try:
        return content.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        is_utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        raise UsageError(
            f"{path}, line {line}: this is not UTF-8 (byte 0x{error.object[error.start]:02x}). "
            f"{_hint(path, 'UTF-16' if is_utf16 else 'LATIN1')}"
        ) from None


def _gunzip(path: Path, content: bytes) -> bytes:
    limit, unpacked = unpacked_limit(len(content)), bytearray()
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        while part := file.read(GZIP_BYTES):
            unpacked += part
            if len(unpacked) > limit:
                raise too_large(str(path), limit, "If you trust it, unpack it first: gunzip FILE")
    return bytes(unpacked)


def _unpack_parquet(path: Path, parquet: Any, arrow: Any) -> Any:
    """Load a parquet file batch by batch: a word that is stored once may stand in every row."""
    limit = unpacked_limit(path.stat().st_size)
    with parquet.ParquetFile(path) as file:
        batches, size = [], 0
        for batch in file.iter_batches(batch_size=PARQUET_ROWS):
            size += batch.nbytes + batch.num_rows * batch.num_columns
            if size > limit:
                raise too_large(str(path), limit, "If you trust it, write its rows as .jsonl.")
            batches.append(batch)
        return arrow.Table.from_batches(batches, file.schema_arrow)


def _hint(path: Path, encoding: str) -> str:
    # iconv reads no gzip, so a packed file is named by what it unpacks to.
    name = path.name[:-3] if path.suffix.lower() == ".gz" else path.name
    return f"If it is {encoding}: iconv -f {encoding} -t UTF-8 {name} > utf8-{name}"
