"""Parquet files, batch by batch: what a batch becomes is counted before it is made.

A value that is stored once may stand in every row, so a small file may become any size. Columns of
texts are therefore loaded as arrow's dictionaries, in which a repeated value is there once, and the
sizes of all rows are summed up before the first row is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.data.tables import FileTable
from brittle.errors import UsageError, require
from brittle.safety.files import too_large, unpacked_limit

ROWS_PER_BATCH = 1024
INDEX_BYTES = 4  # of a value in a dictionary
WIDTHS_BYTES = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}


def read_parquet(path: Path) -> FileTable:
    """Load a parquet file; one whose rows become far larger than the file is refused."""
    limit = unpacked_limit(path.stat().st_size)
    with _opened(path) as file:
        names = tuple(str(name) for name in file.schema_arrow.names)
        _check_declared(path, file, limit)
        size = 0
        for batch in _batches(file, limit):
            size += sum(int(element_bytes(column).sum()) for column in batch.columns)
            if size > limit:
                raise _too_large(path, limit)
    return FileTable(names, partial(_rows, path, names, limit))


def _rows(
    path: Path, names: tuple[str, ...], limit: int
) -> Iterator[tuple[str, dict[str, object]]]:
    number = 0
    with _opened(path) as file:
        for batch in _batches(file, limit):
            for cells in zip(*map(_values, batch.columns)):
                number += 1
                yield f"{path}, row {number}", dict(zip(names, cells))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file so that its texts come as dictionaries; what cannot be read is an error."""
    parquet = require("pyarrow.parquet", "frames", "Reading parquet files")
    arrow = require("pyarrow", "frames", "Reading parquet files")
    try:
        with parquet.ParquetFile(path) as file:
            texts = [leaf.path for leaf in _leaves(file) if _is_text(leaf)]
        with parquet.ParquetFile(path, read_dictionary=texts) as file:
            yield file
    # Values that Python has no object for, such as dates far away, raise the last two.
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise UsageError(f"{path}: brittle cannot read this file as parquet ({error}).") from error


def _leaves(file: Any) -> list[Any]:
    return [file.schema.column(n) for n in range(len(file.schema))]


def _is_text(leaf: Any) -> bool:
    """Tell whether a leaf holds texts or bytes of any length, and so can be a dictionary."""
    return bool(leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type != "DECIMAL")


def _check_declared(path: Path, file: Any, limit: int) -> None:
    """Refuse a file by its own account of its values, before any is unpacked."""
    chunks, is_compact = _chunks(file), _is_all_compact(file)
    unpacked = sum(chunk.total_uncompressed_size for _, chunk in chunks)
    made = sum(chunk.num_values * _value_bytes(leaf, chunk, is_compact) for leaf, chunk in chunks)
    if max(unpacked, made, file.metadata.num_rows * len(file.schema)) > limit:
        raise _too_large(path, limit)


def _value_bytes(leaf: Any, chunk: Any, is_compact: bool) -> int:
    """Return how many bytes a value takes when it is loaded, at most."""
    if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY":
        return int(leaf.length)
    if _is_text(leaf) and leaf.max_repetition_level and not is_compact:
        return int(chunk.total_uncompressed_size)  # one row may have any number of them
    return WIDTHS_BYTES.get(leaf.physical_type, INDEX_BYTES)


def _chunks(file: Any) -> list[tuple[Any, Any]]:
    """List the parts of all columns, each with its leaf of the schema."""
    groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
    return [(leaf, group.column(n)) for group in groups for n, leaf in enumerate(_leaves(file))]


def _batches(file: Any, limit: int) -> Iterator[Any]:
    """Yield the rows of a file, some at a time.

    Texts of an extension type do not come as dictionaries. None of them can be longer than its part
    of the file, so that a batch of few enough rows stays below the limit.
    """
    count = ROWS_PER_BATCH
    if not _is_all_compact(file):
        largest = max((chunk.total_uncompressed_size for _, chunk in _chunks(file)), default=1)
        count = max(1, min(ROWS_PER_BATCH, limit // max(1, largest)))
    # One group at a time: arrow cannot join the dictionaries of several ones inside of lists.
    for group in range(file.metadata.num_row_groups):
        yield from file.iter_batches(batch_size=count, row_groups=[group])


def _is_all_compact(file: Any) -> bool:
    return all(_is_compact(kind) for kind in file.schema_arrow.types)


def _is_compact(kind: Any) -> bool:
    """Tell whether a type has no texts outside of dictionaries."""
    from pyarrow import types

    kind = getattr(kind, "storage_type", kind)
    if types.is_dictionary(kind):
        return True
    if types.is_nested(kind):
        return all(_is_compact(kind.field(n).type) for n in range(kind.num_fields))
    return _width_bytes(kind) is not None


def _width_bytes(kind: Any) -> int | None:
    """Return the bytes of a value of a type; None if they differ between values."""
    from pyarrow import types

    if types.is_null(kind):
        return 0
    try:
        return -(-int(kind.bit_width) // 8)
    except ValueError:
        return None


def _values(column: Any) -> list[object]:
    """List the cells of a column; equal ones of a dictionary are one object."""
    from pyarrow import types

    if not types.is_dictionary(column.type):
        return list(column.to_pylist())
    known = column.dictionary.to_pylist()
    return [None if n is None else known[n] for n in column.indices.to_pylist()]


def element_bytes(array: Any) -> NDArray[np.int64]:
    """Compute how many bytes every element of an arrow array has when nothing is shared.

    >>> import pyarrow
    >>> element_bytes(pyarrow.array(["a word", None, "a word"]).dictionary_encode())
    array([7, 1, 7])
    """
    size = _content_bytes(array)
    if array.null_count:
        size = np.where(array.is_valid().to_numpy(zero_copy_only=False), size, 0)
    return size + 1  # of the cell itself


def _content_bytes(array: Any) -> NDArray[np.int64]:
    """Compute the bytes of elements; what is said of a null has no meaning."""
    from pyarrow import compute, types

    kind = array.type
    if hasattr(kind, "storage_type"):
        return _content_bytes(array.storage)
    if types.is_dictionary(kind):
        index = compute.fill_null(array.indices, 0).to_numpy(zero_copy_only=False)
        known = element_bytes(array.dictionary) - 1
        return np.take(known, index) if len(known) else np.zeros(len(array), np.int64)
    if types.is_run_end_encoded(kind):
        position = np.arange(len(array)) + array.offset
        run = np.searchsorted(array.run_ends.to_numpy(), position, side="right")
        size: NDArray[np.int64] = np.take(element_bytes(array.values) - 1, run)
        return size
    if types.is_struct(kind):
        size = np.zeros(len(array), np.int64)
        for part in array.flatten():
            size += element_bytes(part)
        return size
    if types.is_nested(kind):
        return _nested_bytes(array)
    width = _width_bytes(kind)
    if width is not None:
        return np.full(len(array), width, np.int64)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        # A view is 16 bytes, of which the first four are the length.
        views = np.frombuffer(array.buffers()[1], np.int32).reshape(-1, 4)
        return views[array.offset : array.offset + len(array), 0].astype(np.int64)
    length = compute.fill_null(compute.binary_length(array), 0)
    return np.asarray(length.to_numpy(zero_copy_only=False), np.int64)


def _nested_bytes(array: Any) -> NDArray[np.int64]:
    """Compute the bytes of lists and maps, from those of the values that they have."""
    from pyarrow import types

    kind = array.type
    if types.is_map(kind):
        values = element_bytes(array.keys) + element_bytes(array.items)
    else:
        values = element_bytes(array.values)
    before = np.concatenate([[0], np.cumsum(values)])
    if types.is_fixed_size_list(kind):
        start = (np.arange(len(array)) + array.offset) * kind.list_size
        return np.asarray(before[start + kind.list_size] - before[start])
    start = array.offsets.to_numpy()
    if types.is_list_view(kind) or types.is_large_list_view(kind):
        return np.asarray(before[start + array.sizes.to_numpy()] - before[start])
    return np.asarray(before[start[1:]] - before[start[:-1]])


def _too_large(path: Path, limit: int) -> UsageError:
    return too_large(str(path), limit, "If you trust it, write its rows as .jsonl.")
