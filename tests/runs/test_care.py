"""What a run must not do: replace a file that is no run, mix candidates, conclude too early."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

import brittle
from brittle.cli import main
from brittle.errors import UsageError
from brittle.testing import FakeTarget

EXAMPLES = [("a good film", "positive"), ("a bad film", "negative"), ("good good", "positive")]
TARGET = FakeTarget({"good": 1.0, "bad": -1.0, "fine": -2.0})


def table(path: Path, words: dict[str, list[str]]) -> str:
    path.write_text(json.dumps(words))
    return str(path)


@pytest.mark.parametrize("content", ["text", "database"])
def test_new_replaces_nothing_but_runs(tmp_path: Path, content: str) -> None:
    position = tmp_path / "notes.sqlite"
    if content == "text":
        position.write_text("to do: " * 100)
    else:
        sqlite3.connect(position).execute("CREATE TABLE mine (x)").connection.close()
    before = position.read_bytes()
    words = table(tmp_path / "c.json", {"good": ["fine"]})
    with pytest.raises(UsageError):
        brittle.attack(TARGET, EXAMPLES, candidates=words, name="notes", folder=tmp_path, new=True)
    assert position.read_bytes() == before


def test_a_name_stays_inside_the_folder(tmp_path: Path) -> None:
    words = table(tmp_path / "c.json", {"good": ["fine"]})
    with pytest.raises(UsageError, match="without slashes"):
        brittle.attack(TARGET, EXAMPLES, candidates=words, name="../out", folder=tmp_path)


def test_other_candidates_in_the_same_file_are_another_run(tmp_path: Path) -> None:
    words = table(tmp_path / "c.json", {"good": ["fine"]})
    first = brittle.attack(TARGET, EXAMPLES, candidates=words, name="r", folder=tmp_path)
    assert [row.status for row in first.results()] == ["broken", "skipped", "broken"]
    table(tmp_path / "c.json", {"good": ["lovely"]})
    with pytest.raises(UsageError, match="files was"):
        brittle.attack(TARGET, EXAMPLES, candidates=words, name="r", folder=tmp_path)


def test_a_run_verifies_its_winners(tmp_path: Path) -> None:
    words = table(tmp_path / "c.json", {"good": ["fine"]})
    run = brittle.attack(TARGET, EXAMPLES, candidates=words, folder=tmp_path)
    assert run.verify(TARGET) == []
    assert len(run.verify(FakeTarget({"good": 1.0, "fine": 1.0}))) == 2


def test_a_gate_needs_two_complete_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = table(tmp_path / "c.json", {"good": ["fine"]})
    brittle.attack(TARGET, EXAMPLES, candidates=words, name="a", folder=tmp_path)
    flags = ["--runs", str(tmp_path), "--fail-if-worse", "--quiet"]
    assert main(["compare", "a", *flags]) == 2
    assert main(["compare", "a", "a", *flags]) == 0
    with pytest.raises(brittle.BrittleError, match="limit of 2 items"):
        brittle.attack(TARGET, EXAMPLES, candidates=words, name="b", folder=tmp_path, max_sent=2)
    assert main(["compare", "a", "b", *flags]) == 3
    assert "not complete" in capsys.readouterr().err


def test_strong_words_are_learnt_through_the_mapping_of_labels(tmp_path: Path) -> None:
    data = tmp_path / "train.csv"
    data.write_text("text,label\ngood good film,pos\nbad bad film,neg\n")
    target = FakeTarget({"good": 1.0, "bad": -3.0}, labels=("LABEL_0", "LABEL_1"))
    run = brittle.attack(
        target,
        [("a good film", "pos"), ("a bad film", "neg")],
        "strongest-swap",
        n=1,
        words=1,
        learn_from=str(data),
        labels="neg=LABEL_0,pos=LABEL_1",
        folder=tmp_path,
    )
    assert [row.adversarial for row in run.results()] == ["a bad film", "a good film"]
