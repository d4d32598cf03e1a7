"""`brittle runs delete` and `brittle runs rename`: what is asked, and what is refused."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

from cli.conftest import Brittle

ATTACK = ("attack", "python:cli_models:weak", "pwws", "--data", "films.csv", "--quiet")


class Terminal(io.StringIO):
    """Standard input with somebody at it."""

    def isatty(self) -> bool:
        return True


def made(brittle: Brittle, *names: str) -> None:
    for name in names:
        assert brittle(*ATTACK, "--name", name, "--limit", "3").code == 0


@pytest.mark.parametrize(("answer", "is_deleted"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_person_is_asked(
    brittle: Brittle,
    workdir: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    is_deleted: bool,
) -> None:
    made(brittle, "one", "two")
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    output = brittle("runs", "delete", "one", "two")
    assert output.code == 0 and "run one: pwws against python:cli_models:weak" in output.err
    assert "3 cases" in output.err and ("Nothing was deleted" in output.err) is not is_deleted
    assert (workdir / "runs" / "one.sqlite").exists() is not is_deleted
    assert (workdir / "runs" / "two.sqlite").exists() is not is_deleted


def test_nobody_at_the_terminal_must_say_yes(
    brittle: Brittle, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(brittle, "one")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    output = brittle("runs", "delete", "one")
    assert output.code == 2 and "Add --yes" in output.err
    output = brittle("runs", "delete", "one", "--yes", "--json")
    assert json.loads(output.out) == {"deleted": ["runs/one.sqlite"]}
    assert not [path.name for path in (workdir / "runs").glob("one.*")]


def test_nothing_is_deleted_by_the_beginning_of_its_name(brittle: Brittle, workdir: Path) -> None:
    made(brittle, "one-long-name")
    for words in (("runs", "delete", "one-long", "--yes"), ("runs", "rename", "one-long", "x")):
        output = brittle(*words)
        assert output.code == 2 and "Did you mean 'one-long-name'" in output.err
    # One wrong name, and nothing is deleted.
    assert brittle("runs", "delete", "one-long-name", "none", "--yes").code == 2
    assert brittle("runs", "delete", "runs/one-long-name.sqlite", "--yes", "--quiet").out == ""
    assert brittle("show", "one-long-name").code == 2


def test_a_run_is_renamed(brittle: Brittle, workdir: Path) -> None:
    made(brittle, "one")
    output = brittle("runs", "rename", "one", "first")
    assert output.code == 0 and output.out.strip() == "runs/first.sqlite"
    assert "--name first" in output.err
    assert brittle("show", "first").code == 0
    assert not (workdir / "runs" / "one.sqlite").exists()
    output = brittle("runs", "rename", "first", "weak")
    assert output.code == 2 and "A run 'weak' already exists" in output.err


def test_a_study_is_deleted_and_renamed_too(brittle: Brittle, workdir: Path) -> None:
    (workdir / "runs" / "fair.study.json").write_text(json.dumps({"name": "fair"}))
    assert brittle("runs", "rename", "fair", "just", "--quiet").code == 0
    assert json.loads((workdir / "runs" / "just.study.json").read_text())["name"] == "just"
    made(brittle, "just")
    output = brittle("runs", "delete", "just", "--yes")
    assert output.code == 2 and "a run and a study" in output.err
    assert brittle("runs", "delete", "runs/just.study.json", "just", "--yes").code == 2
    assert brittle("runs", "delete", "runs/just.study.json", "runs/just.sqlite", "--yes").code == 0
    assert not list((workdir / "runs").glob("just*"))


def test_the_question_names_the_folder_and_others_stay(
    brittle: Brittle, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = "python:cli_models:weak,python:cli_models:strong"
    words = ("--data", "films.csv", "--limit", "2", "--workers", "1", "--quiet")
    assert brittle("study", "grid", targets, "key", *words, "--name", "fair").code == 0
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    question = " ".join(brittle("runs", "delete", "fair").err.split())
    assert "study fair and its folder runs/fair with 2 runs and" in question
    (workdir / "runs" / "fair" / ".brittle-study.json").unlink()
    (workdir / "runs" / "fair" / "thesis.tex").write_text("years of work")
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    output = brittle("runs", "delete", "fair")
    assert "study fair, the file alone. runs/fair stays as it is" in " ".join(output.err.split())
    assert output.out.strip() == "Deleted: runs/fair.study.json"
    assert (workdir / "runs" / "fair" / "thesis.tex").exists()
    (workdir / "runs" / "fair.study.json").write_text('{"name": "fair"}')
    output = brittle("runs", "rename", "fair", "just")
    assert output.code == 0 and "runs/fair stays as it is" in output.err
    assert (workdir / "runs" / "fair" / "thesis.tex").exists()
    assert brittle("runs", "delete", "just", "--yes").code == 0
    shutil.rmtree(workdir / "runs" / "fair")
