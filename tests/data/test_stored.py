"""Large tables: kept in a temporary file, with the same results as in memory."""

from __future__ import annotations

import gzip
import json
import pickle
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from brittle import data
from brittle.data import Dataset, Example, case_ids
from brittle.data import dataset as stored
from brittle.data.dataset import StoredExamples
from brittle.data.example import decode_line, encode_line
from brittle.errors import UsageError

WORDS = ("good", 'a "fine", film', "très bon", "two\nlines", "tab\there", "👩‍🚀", "e\u0301")
COUNT = 60
# What the version before this one computed of the same file, when it kept all rows in memory.
FINGERPRINT = "4a06ee62d210f8189dfac609a4ee31134da685cf06a1785364b36b81e6b6b5f2"
FIRST_IDS = ["d9d2c4ea9a54340a", "15bd75a98d0e283f"]


def written(folder: Path, ending: str) -> Path:
    rows = [(f"{WORDS[i % 7]} {i // 2}", ("pos", "neg", "none")[i % 3]) for i in range(COUNT)]
    if "jsonl" in ending:
        lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
    else:
        separator = "\t" if "tsv" in ending else ","
        quoted = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in rows]
        lines = [separator.join(cells) for cells in [("text", "label"), *quoted]]
    content = "\n".join(lines).encode()
    path = folder / f"rows{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    return path


@pytest.fixture
def in_memory(tmp_path: Path) -> Dataset:
    return data.load(written(tmp_path, ".csv"))


@pytest.fixture
def on_disk(in_memory: Dataset, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    monkeypatch.setattr(stored, "MAX_ROWS_IN_MEMORY", 7)
    dataset = data.load(in_memory.name)
    assert isinstance(dataset.examples, StoredExamples)
    return dataset


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".csv.gz", ".tsv.gz", ".jsonl.gz"])
def test_a_large_file_gives_what_a_small_one_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    path = written(tmp_path, ending)
    options: list[dict[str, Any]] = [{}, {"label": ""}, {"limit": 5, "seed": 2}, {"limit": 20}]
    small = [data.load(path, **chosen) for chosen in options]
    monkeypatch.setattr(stored, "MAX_ROWS_IN_MEMORY", 7)
    large = [data.load(path, **chosen) for chosen in options]
    assert isinstance(large[0].examples, StoredExamples)
    assert large == small
    assert [d.fingerprint for d in large] == [d.fingerprint for d in small]
    assert [d.label_counts for d in large] == [d.label_counts for d in small]
    assert [case_ids(d.examples) for d in large] == [case_ids(d.examples) for d in small]


def test_the_results_of_a_file_limit_and_seed_stay(in_memory: Dataset, on_disk: Dataset) -> None:
    for dataset in (in_memory, on_disk):
        assert dataset.fingerprint == FINGERPRINT
        assert case_ids(dataset.take(2, seed=3).examples) == FIRST_IDS


def test_stored_examples_are_a_sequence(in_memory: Dataset, on_disk: Dataset) -> None:
    rows, all_rows = on_disk.examples, tuple(in_memory.examples)
    assert (len(rows), rows[0], rows[-1], rows[5]) == (60, all_rows[0], all_rows[-1], all_rows[5])
    assert rows[:3] == all_rows[:3] and isinstance(rows[:3], tuple)
    for part in (rows[10:40], rows[::2], rows[40:10:-1][::-1]):
        assert isinstance(part, StoredExamples)
    assert tuple(rows[10:40]) == all_rows[10:40] and tuple(rows[::2]) == all_rows[::2]
    assert tuple(rows[40:10:-1][2:20]) == all_rows[40:10:-1][2:20]
    assert tuple(rows[::-1]) == all_rows[::-1] and rows[60:] == ()
    assert rows == all_rows and rows != all_rows[:-1] and rows != 3
    assert all_rows[3] in rows and list(reversed(rows)) == list(reversed(all_rows))
    with pytest.raises(IndexError):
        rows[60]


def test_a_permutation_of_all_is_not_loaded(in_memory: Dataset, on_disk: Dataset) -> None:
    few, many = on_disk.take(5, 1), on_disk.take(50, 1)
    assert isinstance(few.examples, tuple) and isinstance(many.examples, StoredExamples)
    assert tuple(many.examples) == in_memory.take(50, 1).examples
    assert many.fingerprint == in_memory.take(50, 1).fingerprint
    assert many.take(30, 2) == in_memory.take(50, 1).take(30, 2)


def test_rows_are_left_out_of_a_large_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        f"a text of number {i}\t{'' if i % 5 == 0 else f'ein langer Text {i}'}" for i in range(40)
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join(["text\tlabel", *rows]))
    small = data.load(tmp_path / "pairs.tsv")
    monkeypatch.setattr(stored, "MAX_ROWS_IN_MEMORY", 7)
    large = data.load(tmp_path / "pairs.tsv")
    assert large == small and len(large) == 32 and isinstance(large.examples, StoredExamples)
    assert "8 of 40 rows have an empty side" in large.warnings[0]


def test_a_bad_row_far_down_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MAX_ROWS_IN_MEMORY", 7)
    lines = [f"text {i},pos" for i in range(30)]
    for line, message in (
        ("text 30,", "line 32: the label is missing"),
        ("text 30", "line 32: this row has 1 cells"),
    ):
        (tmp_path / "a.csv").write_text("\n".join(["text,label", *lines, line]))
        with pytest.raises(UsageError, match=message):
            data.load(tmp_path / "a.csv")


def test_what_is_wrong_with_the_whole_text_comes_before_a_bad_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"text,label\nshort\n" + b"x,y\n" * 9 + b"caf\xe9,y\n")
    with pytest.raises(UsageError, match="line 12: this is not UTF-8"):
        data.load(tmp_path / "a.csv")
    (tmp_path / "a.jsonl").write_bytes(b"{\n" + b'{"text": "a"}\n' * 9 + b'{"text": "\xe9"}\n')
    with pytest.raises(UsageError, match="line 11: this is not UTF-8"):
        data.load(tmp_path / "a.jsonl")


def test_many_threads_read_at_once(in_memory: Dataset, on_disk: Dataset) -> None:
    numbers = [i * 7 % COUNT for i in range(2000)]
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(on_disk.examples.__getitem__, numbers))
    assert read == [in_memory.examples[i] for i in numbers]


def test_stored_examples_travel_by_content(in_memory: Dataset, on_disk: Dataset) -> None:
    assert pickle.loads(pickle.dumps(on_disk)) == in_memory


def test_a_temporary_folder_without_room_is_told(
    in_memory: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "MAX_ROWS_IN_MEMORY", 7)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(UsageError, match=r"too large to be kept in memory.*missing.*TMPDIR=FOLDER"):
        data.load(in_memory.name)


@pytest.mark.parametrize("text", [*WORDS, "", '\\"', "a\0b\x1f\x7f", "\u2028\x85", "\ud83d", "/<>"])
def test_a_line_is_the_json_of_an_example(text: str) -> None:
    for example in (
        Example((("text", text),), text),
        Example(((text, "a"), ("b", text)), None, (text,)),
    ):
        row = [example.fields, example.label, example.locked]
        expected = json.dumps(row, ensure_ascii=False) + "\n"
        assert encode_line(example) == expected.encode("utf-8", "surrogatepass")
        assert decode_line(encode_line(example)) == example
