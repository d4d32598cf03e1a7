"""Parquet files: what their rows become is counted before a row is made."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle import data
from brittle.data.files import TABLE_READERS
from brittle.errors import UsageError
from brittle.safety import files

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from brittle.data.parquet import element_bytes  # noqa: E402
from robustness.table import peak_mb  # noqa: E402

LARGE, COUNT = "a word " * 15_000, 3000
LOAD = """
import sys
from brittle import data
from brittle.errors import UsageError
for path in sys.argv[1:]:
    try:
        sys.exit(f"{len(data.load(path))} rows of {path}")
    except UsageError as error:
        assert "far more than its own size" in str(error), error
"""


def repeated(value: Any, count: int = COUNT) -> Any:
    """Return an array of one value, which is there once."""
    return arrow.DictionaryArray.from_arrays(np.zeros(count, np.int32), arrow.array([value]))


def bombs(folder: Path) -> dict[str, Path]:
    """Write small files whose rows have 100 kB each, most of them 3,000 rows."""
    lists = np.arange(COUNT + 1, dtype=np.int32)
    fixed = arrow.array([LARGE.encode()] * 300, arrow.binary(len(LARGE)))
    texts = {"text": arrow.array(["short"] * COUNT)}
    pairs = arrow.MapArray.from_arrays(lists, repeated("key"), repeated(LARGE))
    tables: dict[str, tuple[dict[str, Any], bool]] = {
        "dictionary": ({"text": repeated(LARGE)}, True),
        "plain": ({"text": repeated(LARGE)}, False),
        "list": ({**texts, "a": arrow.ListArray.from_arrays(lists, repeated(LARGE))}, True),
        "struct": ({**texts, "a": arrow.StructArray.from_arrays([repeated(LARGE)], ["b"])}, True),
        "map": ({**texts, "a": pairs}, True),
        "fixed": ({"text": texts["text"][:300], "a": fixed}, True),
        "one row": (
            {"text": ["a"], "a": arrow.ListArray.from_arrays([0, COUNT], repeated(LARGE))},
            False,
        ),
        "one": ({"text": arrow.array([LARGE * 300])}, True),
        "numbers": ({"text": ["a"], "a": arrow.array([np.zeros(10**7, np.int8)])}, True),
    }
    paths = {}
    for name, (columns, keeps_types) in tables.items():
        path = paths[name] = folder / f"{name}.parquet"
        options = {"compression": "zstd", "store_schema": keeps_types}
        parquet.write_table(arrow.table(columns), path, **options)
    return paths


@pytest.mark.slow
def test_small_files_of_large_rows_are_refused_before_the_rows_are_made(tmp_path: Path) -> None:
    paths = bombs(tmp_path)
    assert max(path.stat().st_size for path in paths.values()) < 32_000
    assert peak_mb([sys.executable, "-c", LOAD, *map(str, paths.values())], tmp_path) < 200


@pytest.mark.parametrize("is_list", [False, True])
@pytest.mark.parametrize("kind", ["json_", "string_view", "large_string"])
def test_texts_of_other_types_are_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, is_list: bool
) -> None:
    if not hasattr(arrow, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    monkeypatch.setattr(files.unpacked_limit, "__defaults__", (1 << 17,))
    array = arrow.array([f'"{LARGE}"'] * 10, getattr(arrow, kind)())
    columns = {"text": array}
    if is_list:
        columns = {"text": ["a"], "a": arrow.ListArray.from_arrays([0, 10], array)}
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table(columns), path, compression="zstd")
    assert 50 * path.stat().st_size < 1 << 17
    with pytest.raises(UsageError, match="far more than its own size"):
        data.load(path)


def test_a_file_is_loaded_as_arrow_reads_it(tmp_path: Path) -> None:
    count = 2500  # of several batches, and two row groups
    day = datetime.datetime(2020, 1, 1)
    columns = {
        "text": [f"text {i % 7}" for i in range(count)],
        "label": arrow.array([("good", "bad", None)[i % 3] for i in range(count)]),
        "kept": arrow.array([f"{i % 5}" for i in range(count)]).dictionary_encode(),
        "number": [None if i % 11 == 0 else i for i in range(count)],
        "share": np.linspace(0, 1, count),
        "day": [day + datetime.timedelta(i) for i in range(count)],
        "list": [[f"a{i}", "b"] if i % 4 else None for i in range(count)],
        "struct": [{"a": i, "b": "c"} for i in range(count)],
        "bytes": [b"\xff", b""] * (count // 2),
        "nothing": arrow.nulls(count),
    }
    table = arrow.table(columns)
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=1500)
    read = TABLE_READERS[".parquet"](tmp_path / "a.parquet")
    assert read.columns == tuple(columns)
    assert [row for _, row in read.rows()] == table.to_pylist()
    assert [where for where, _ in read.rows()][-1] == f"{tmp_path / 'a.parquet'}, row {count}"


def test_texts_that_are_not_utf8_are_told(tmp_path: Path) -> None:
    bad = arrow.array([b"fine", b"caf\xe9"]).cast(arrow.binary())
    text = arrow.Array.from_buffers(arrow.string(), 2, bad.buffers())
    parquet.write_table(arrow.table({"text": text}), tmp_path / "a.parquet")
    with pytest.raises(UsageError, match=r"a\.parquet: brittle cannot read this file as parquet"):
        data.load(tmp_path / "a.parquet")


def size_of(value: Any) -> int:
    """Count the bytes of a Python value as `element_bytes` does, plainly."""
    if isinstance(value, str | bytes):
        return 1 + len(value.encode() if isinstance(value, str) else value)
    if isinstance(value, dict):
        return 1 + sum(map(size_of, value.values()))
    if isinstance(value, list):
        return 1 + sum(size_of(v) for v in value)
    if isinstance(value, tuple):  # the key and the value of a map
        return sum(map(size_of, value))
    return 1 if value is None else 9


def arrays() -> dict[str, Any]:
    texts = ["a", None, "ein längerer Text " * 9, "", "a", "bb"]
    flat = arrow.array(texts)
    in_dictionary = flat.dictionary_encode()
    lists = [["a", None], None, [], ["ccc"] * 4, ["a"], ["b"]]
    offsets = np.array([0, 2, 2, 3, 5, 6, 6], np.int32)
    views = (arrow.array([0, 1, 0, 2, 0, 3], arrow.int32()), arrow.array([6, 1, 6, 2, 0, 1], "i4"))
    indices = arrow.array([0, 0, None, 1, 2, 0], "i1")
    return {
        "text": flat,
        "large text": flat.cast(arrow.large_string()),
        "view": flat.cast(arrow.string_view()),
        "bytes": arrow.array([b"a", None, b"\xff" * 40, b"", b"a", b"b"], arrow.binary_view()),
        "numbers": arrow.array([1, None, 3, 4, 5, 6]),
        "dictionary": in_dictionary,
        "dictionary in a dictionary": arrow.DictionaryArray.from_arrays(indices, in_dictionary),
        "lists in a dictionary": arrow.DictionaryArray.from_arrays(indices, arrow.array(lists)),
        "runs": arrow.RunEndEncodedArray.from_arrays(np.array([2, 5, 6], np.int32), flat[:3]),
        "list": arrow.array(lists),
        "large list": arrow.array(lists, arrow.large_list(arrow.string())),
        "dictionary in a list": arrow.ListArray.from_arrays(offsets, in_dictionary),
        "views that overlap": arrow.ListViewArray.from_arrays(*views, flat),
        "fixed list": arrow.array([["a", "b"], None] * 3, arrow.list_(arrow.string(), 2)),
        "struct": arrow.StructArray.from_arrays([in_dictionary, flat], ["a", "b"]),
        "map": arrow.array([[("k", "v")], None, []] * 2, arrow.map_("string", "string")),
        "nulls": arrow.nulls(6),
    }


@pytest.mark.parametrize("name", arrays())
@pytest.mark.parametrize("part", [slice(0, 6), slice(1, 5), slice(3, 4), slice(2, 2)])
def test_what_an_array_becomes_is_counted(name: str, part: slice) -> None:
    array = arrays()[name][part]
    expected = [size_of(value) for value in array.to_pylist()]
    assert element_bytes(array).tolist() == expected
