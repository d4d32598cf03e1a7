import sys
from pathlib import Path
from types import ModuleType

import pytest

from brittle import data
from brittle.data import Example, as_examples, hub
from brittle.errors import MissingPackage, UsageError


@pytest.fixture
def datasets(tmp_path, monkeypatch) -> ModuleType:
    """The real library, which then caches inside the test's own folder."""
    module = pytest.importorskip("datasets")
    monkeypatch.setattr(module.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return module


def folder(tmp_path: Path, **splits: str) -> str:
    folder = tmp_path / "reviews"
    folder.mkdir()
    for split, content in splits.items():
        (folder / f"{split}.csv").write_text(content)
    return f"hf:{folder}"


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 6 5\n%%EndComments\nshowpage\n%%EOF\n"
CSV = "text,label\na fine film,positive\ndull,negative\n"


def test_a_folder_of_csv_files_loads_offline(datasets, tmp_path) -> None:
    source = folder(tmp_path, train="text,label\nx,positive\n", test=CSV)
    dataset = data.load(source)
    assert dataset.name == source
    assert dataset.split == "test"
    assert dataset.examples == (
        Example.of("a fine film", "positive"),
        Example.of("dull", "negative"),
    )
    assert dataset.labels == ("negative", "positive")
    assert data.load(source, split="train").examples == (Example.of("x", "positive"),)
    with pytest.raises(UsageError, match=r"Unknown split of hf:.*: 'dev'. Known: t.*--split NAME"):
        data.load(source, split="dev")


def test_an_only_split_needs_no_name(datasets, tmp_path) -> None:
    dataset = data.load(folder(tmp_path, data=CSV), label="")
    assert dataset.split == "train"
    assert dataset.examples == (Example.of("a fine film"), Example.of("dull"))


def parquet(datasets: ModuleType, tmp_path: Path, labels: list[int]) -> str:
    folder = tmp_path / "topics"
    folder.mkdir()
    features = datasets.Features(
        premise=datasets.Value("string"),
        hypothesis=datasets.Value("string"),
        gold=datasets.ClassLabel(names=["yes", "no", "maybe"]),
    )
    rows = {"premise": ["p", "q"], "hypothesis": ["h", "i"], "gold": labels}
    table = datasets.Dataset.from_dict(rows, features=features)
    table.to_parquet(str(folder / "test.parquet"))
    return f"hf:{folder}"


def test_class_numbers_become_names_and_pairs_are_locked(datasets, tmp_path) -> None:
    source = parquet(datasets, tmp_path, [2, 0])
    dataset = data.load(
        source, text=["premise", "hypothesis"], label="gold", locked=["premise"], limit=5
    )
    assert set(dataset.examples) == {
        Example.of({"premise": "p", "hypothesis": "h"}, "maybe", ["premise"]),
        Example.of({"premise": "q", "hypothesis": "i"}, "yes", ["premise"]),
    }
    assert dataset.labels == ("yes", "no", "maybe")


def test_hidden_labels_are_told(datasets, tmp_path) -> None:
    source = parquet(datasets, tmp_path, [-1, -1])
    pair = ["premise", "hypothesis"]
    with pytest.raises(UsageError, match=r"row 1: the label is -1, which is not a class"):
        data.load(source, text=pair, label="gold")
    assert data.load(source, text=pair, label="").labels == ()


def test_a_loaded_table_is_taken_by_the_python_api(datasets) -> None:
    features = datasets.Features(
        sentence=datasets.Value("string"), label=datasets.ClassLabel(names=["bad", "good"])
    )
    table = datasets.Dataset.from_dict({"sentence": ["fine"], "label": [1]}, features=features)
    assert as_examples(table) == [Example.of("fine", "good")]


def test_what_the_library_raises_is_told(datasets, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"hf:.*empty cannot be loaded \(.*Check the name and the"):
        data.load(f"hf:{tmp_path / 'empty'}")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("hf:glue:sst2", ("glue", "sst2")),
        ("hf:stanfordnlp/imdb", ("stanfordnlp/imdb", None)),
        ("hf:a:", ("a", None)),
    ],
)
def test_names_are_parted_from_configurations(source, expected) -> None:
    assert hub.parse(source) == expected


def test_an_existing_folder_is_taken_whole(tmp_path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    assert hub.parse(f"hf:{folder}") == (str(folder), None)


@pytest.mark.parametrize(
    ("source", "message"),
    [("hf:", "does not name a data set"), ("hf:./nowhere", "There is no folder")],
)
def test_bad_names_are_told_before_anything_is_imported(monkeypatch, source, message) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UsageError, match=message):
        data.load(source)


def test_the_missing_library_is_told_with_the_remedy(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingPackage, match=r"pip install 'datasets>="):
        data.load("hf:glue:sst2")


def test_scripts_of_data_sets_are_never_run(monkeypatch) -> None:
    seen = {}

    def load_dataset(path, name=None, trust_remote_code=None):
        seen.update(path=path, name=name, trust_remote_code=trust_remote_code)
        raise ConnectionError("no\nnetwork")

    old = ModuleType("datasets")
    old.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", old)
    with pytest.raises(UsageError, match=r"cannot be loaded \(ConnectionError: no network\)"):
        data.load("hf:glue:sst2")
    assert seen == {"path": "glue", "name": "sst2", "trust_remote_code": False}


def test_pictures_of_the_library_are_never_opened(datasets, tmp_path, monkeypatch) -> None:
    """It opens any format that Pillow knows: here one for which Pillow starts a program."""
    eps_plugin = pytest.importorskip("PIL.EpsImagePlugin")
    source, mark = tmp_path / "pictures", tmp_path / "started"
    for name in ("cat", "dog"):
        (source / name).mkdir(parents=True)
        (source / name / "1.png").write_bytes(EPS)
    program = tmp_path / "gs"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\nexit 0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(eps_plugin, "gs_binary", None)
    with pytest.raises(UsageError, match=r"the column 'image' is of the type Image\. Expected str"):
        data.load(f"hf:{source}", text=["image"])
    assert not mark.exists()
