"""Runs are their owner's alone, and no link leads a write elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import brittle
from brittle import files
from brittle.errors import UsageError
from brittle.runs.run import Run
from brittle.runs.store import Store
from brittle.workflow.tasks import Task, TaskContext, store_result

pytestmark = pytest.mark.skipif(os.name != "posix", reason="about permissions of POSIX")


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def classify(texts: list[str]) -> list[list[float]]:
    return [[0.4, 0.6] for _ in texts]


def attack(folder: Path) -> Run:
    settings = {"labels": "neg,pos", "budget": 2, "name": "one"}
    return brittle.attack(classify, ["a good film"], "random-swap", folder=folder, **settings)


def test_nobody_else_can_read_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "runs"
    run = attack(folder)
    assert [mode(path) for path in (folder, folder.parent)] == [0o700] * 2
    assert {path.name: mode(path) for path in folder.iterdir()} == {
        "one.sqlite": 0o600,
        "one.lock": 0o600,
    }
    with Store.resume(run.path):
        assert {mode(path) for path in folder.iterdir()} == {0o600}  # also of the log


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    attack(folder)
    assert mode(folder) == 0o755


def one(context: TaskContext) -> int:
    return 1


def test_the_folders_of_studies_are_private_too(tmp_path: Path) -> None:
    task = Task("a", one, {})
    store_result(task, tmp_path / "new" / "study", {"task": "a", "key": "", "result": 1})
    assert mode(tmp_path / "new") == mode(tmp_path / "new" / "study") == 0o700


def test_the_lock_follows_no_link(tmp_path: Path) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "runs"
    folder.mkdir()
    (folder / "one.lock").symlink_to(victim)
    with pytest.raises(UsageError, match="cannot be written"):
        attack(folder)
    assert not victim.exists()


def test_a_report_replaces_a_link_and_not_what_it_points_to(tmp_path: Path) -> None:
    run = attack(tmp_path / "runs")
    victim, out = tmp_path / "victim", tmp_path / "report.html"
    victim.write_text("mine")
    out.symlink_to(victim)
    (tmp_path / "report.html.new").symlink_to(victim)
    run.report(out)
    assert victim.read_text() == "mine"
    assert not out.is_symlink() and "<html" in out.read_text("utf-8")


def test_a_file_is_made_private_whether_it_is_there_or_not(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for _ in range(2):
        files.make_private(path)
        assert mode(path) == 0o600
        path.chmod(0o644)
