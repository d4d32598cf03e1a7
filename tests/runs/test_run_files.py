"""Runs are deleted and renamed as a whole, never while another process writes them."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from brittle import attack, open_run
from brittle.errors import UsageError
from brittle.runs.resuming import delete_run, rename_run
from brittle.testing import FakeTarget

FILMS = ["a good film", "a good one"]
WRITE = """
import sys
from pathlib import Path
from brittle.runs.store import Store
store = Store.resume(Path(sys.argv[1]))
store.amend(note="written")
print("open", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The file of a finished run."""
    return attack(FakeTarget({"good": 2.0}), FILMS, folder=tmp_path, name="films").path


@contextmanager
def written_elsewhere(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Have another process write a run."""
    command = [sys.executable, "-c", WRITE, str(path)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "open\n"
        yield process
        process.kill()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_everything_of_a_run_is_deleted_but_its_report(run: Path) -> None:
    open_run("films", run.parent).report(run.with_suffix(".html"))
    run.with_suffix(".inside.json").write_text("{}")
    attack(FakeTarget(), FILMS, folder=run.parent, name="films-2")
    deleted = delete_run(run)
    assert [path.name for path in deleted] == ["films.inside.json", "films.sqlite"]
    assert names(run.parent) == ["films-2.lock", "films-2.sqlite", "films.html"]


def test_the_log_of_a_killed_run_goes_with_it(run: Path) -> None:
    with written_elsewhere(run) as process:
        process.kill()
    assert run.with_name("films.sqlite-wal").exists()
    delete_run(run)
    assert names(run.parent) == []


@pytest.mark.parametrize("act", [delete_run, lambda path: rename_run(path, "other")])
def test_what_another_process_writes_is_left_alone(run: Path, act: object) -> None:
    with written_elsewhere(run):
        with pytest.raises(UsageError, match="Another process is writing the run 'films'"):
            act(run)  # type: ignore[operator]
        assert run.exists() and "other.sqlite" not in names(run.parent)
    act(run)  # type: ignore[operator]
    assert not run.exists()


def test_a_renamed_run_is_the_same_run(run: Path) -> None:
    before = open_run("films", run.parent).results()
    run.with_suffix(".inside.json").write_text("{}")
    with written_elsewhere(run) as process:
        process.kill()
    new = rename_run(run, "movies")
    assert names(run.parent) == ["movies.inside.json", "movies.lock", "movies.sqlite"]
    moved = open_run("movies", run.parent)
    # What was only in the log has come along.
    assert moved.results() == before and moved.manifest["note"] == "written"
    again = attack(FakeTarget({"good": 2.0}), FILMS, folder=run.parent, name="movies")
    assert again.path == new and again.results() == before


def test_a_name_that_is_taken_or_impossible_is_refused(run: Path) -> None:
    shutil.copy(run, run.with_name("other.sqlite"))
    before = run.read_bytes()
    for name, message in {
        "other": "run 'other' already",
        "films": "already has this name",
        "": "without slashes",
        "a/b": "without slashes",
        "x.sqlite": "without a file ending",
    }.items():
        with pytest.raises(UsageError, match=message):
            rename_run(run, name)
    assert run.read_bytes() == before


def test_only_runs_are_deleted_but_damaged_ones_too(run: Path) -> None:
    notes = run.with_name("notes.sqlite")
    for content in (b"my own notes, of some length", b""):
        notes.write_bytes(content)
        if content:
            with pytest.raises(UsageError, match="not a readable run file"):
                delete_run(notes)
    delete_run(notes)  # a run that was killed before its first write is an empty file
    sqlite3.connect(notes).executescript("CREATE TABLE a (b); INSERT INTO a VALUES (1)")
    with pytest.raises(UsageError, match="not a run of brittle"):
        delete_run(notes)
    run.write_bytes(run.read_bytes()[:200])
    assert delete_run(run) == [run]
    with pytest.raises(UsageError, match="There is no run"):
        delete_run(run)
