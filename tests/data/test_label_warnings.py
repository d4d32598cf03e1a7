"""Data that counts as unlabelled says so if one of its columns could be the labels."""

from __future__ import annotations

from pathlib import Path

import pytest

import brittle
from brittle import data
from brittle.cli import main
from brittle.errors import UsageError
from brittle.testing import FakeTarget

TARGET = FakeTarget({"good": 1.0, "bad": -1.0})


def films(folder: Path, header: str) -> str:
    rows = [f"a good film {i},positive" for i in range(3)] + ["a bad film,negative"]
    (folder / "films.csv").write_text("\n".join([header, *rows]) + "\n")
    return str(folder / "films.csv")


@pytest.mark.parametrize("name", ["Label", "LABEL", " label", "label "])
def test_a_label_column_is_found_whatever_its_case_and_blanks(tmp_path: Path, name: str) -> None:
    loaded = data.load(films(tmp_path, f" Text,{name}"))
    assert loaded.labels == ("negative", "positive") and loaded.warnings == ()
    run = brittle.attack(TARGET, loaded, "pwws", folder=tmp_path)
    assert "accuracy before" in str(run) and "agreement" not in str(run)


@pytest.mark.parametrize("name", ["sentiment", "Class", "gold_label", "airline_sentiment", "y"])
def test_columns_that_could_be_labels_are_named(tmp_path: Path, name: str) -> None:
    path = films(tmp_path, f"text,{name}")
    (warning,) = data.load(path).warnings
    assert f"{name!r} (positive, negative)" in warning and "--label COLUMN" in warning
    assert data.load(path, label="").warnings == data.load(path, label=name).warnings == ()
    assert data.load(path, limit=2).warnings == (warning,)


def test_a_column_of_few_values_could_be_a_label_whatever_its_name(tmp_path: Path) -> None:
    rows = [f"film {i},{'sad' if i % 2 else 'glad'},{i},{'x' * 50 + str(i % 2)}" for i in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["text,mood,id,notes", *rows]))
    (warning,) = data.load(tmp_path / "a.csv").warnings
    assert "'mood' (glad, sad)" in warning and "'id'" not in warning and "'notes'" not in warning


def test_data_without_such_a_column_is_not_doubted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,a good film\n2,a bad film\n")
    assert data.load(tmp_path / "a.csv").warnings == ()


def test_the_warning_is_told_stored_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    model = "def f(texts):\n    return [[0.1, 0.9] if 'good' in t else [0.8, 0.2] for t in texts]\n"
    (tmp_path / "unused_model.py").write_text(f"{model}f.labels = ['negative', 'positive']\n")
    path = films(tmp_path, "text,sentiment")
    argv = ["attack", "python:unused_model:f", "pwws", "--data", path]
    assert main([*argv, "--name", "a", "--quiet"]) == 0
    assert (
        "'sentiment' (positive, negative)? If so, name the column with --label"
        in capsys.readouterr().err
    )
    assert "Are these the labels" in brittle.open_run("a").manifest["warnings"][0]
    assert main([*argv, "--name", "b", "--quiet", "--label", "sentiment"]) == 0
    assert "Could these" not in capsys.readouterr().err


def test_python_objects_are_looked_at_too(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    heard: list[str] = []

    def attacked(examples: object) -> brittle.Run:
        heard.clear()
        return brittle.attack(TARGET, examples, "pwws", folder=tmp_path, warn=heard.append)

    texts = ["a good film", "a bad film"]
    frame = pandas.DataFrame({"text": texts, "sentiment": ["positive", "negative"]})
    attacked(frame)
    assert any("The DataFrame: there is no column 'label'" in message for message in heard)
    attacked(frame.to_dict("records"))
    assert any("rename the key to 'label'" in message for message in heard)
    run = attacked(frame.rename(columns={"sentiment": "Label"}))
    assert not heard and [row.label for row in run.results()] == ["positive", "negative"]
    run = attacked(frame.rename(columns={"sentiment": " Label"}).to_dict("records"))
    assert not heard and [row.label for row in run.results()] == ["positive", "negative"]
    with pytest.raises(UsageError, match="has 2 labels: 'Label', 'LABEL'"):
        attacked([{"text": "a", "Label": "positive", "LABEL": "negative"}])
