"""Studies are deleted and renamed with their own folders, never while they are written."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brittle import attack, grid, robustness, transfer
from brittle.errors import UsageError
from brittle.runs.store import sole_writer
from brittle.studies.grid.study import GridStudy
from brittle.studies.study_files import (
    MARKER,
    delete_study,
    others_folder,
    own_folder,
    rename_study,
    sole_writer_of_study,
)
from brittle.testing import FakeGenerator, FakeTarget

FILMS = [("a good film", "positive"), ("a good one", "positive")]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The file of a study with a run in its folder, beside another run."""
    attack(FakeTarget({"good": 2.0}), FILMS, folder=tmp_path, name="alone")
    path = tmp_path / "fair.study.json"
    with sole_writer_of_study(path):
        attack(FakeTarget({"good": 2.0}), FILMS, folder=tmp_path / "fair", name="cell")
    path.write_text(json.dumps({"kind": "grid", "format": 1, "name": "fair"}))
    return path


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_study_is_deleted_with_its_folder(study: Path) -> None:
    assert [path.name for path in delete_study(study)] == ["fair", "fair.study.json"]
    assert names(study.parent) == ["alone.lock", "alone.sqlite"]


def test_a_study_is_renamed_with_its_folder(study: Path) -> None:
    new = rename_study(study, "just")
    assert json.loads(new.read_text()) == {"kind": "grid", "format": 1, "name": "just"}
    assert new.read_text().startswith('{"kind": "grid"')  # by which a grid is known
    assert {"just/cell.sqlite", "just.study.json"} <= set(names(study.parent))
    assert not any("fair" in name for name in names(study.parent))


def test_a_name_that_is_taken_is_refused(study: Path) -> None:
    for name in ("fair", "a/b"):
        with pytest.raises(UsageError):
            rename_study(study, name)
    (study.parent / "there").mkdir()
    with pytest.raises(UsageError, match="already"):
        rename_study(study, "there")


def test_what_is_written_is_left_alone(study: Path) -> None:
    before = names(study.parent)
    assert "fair.study.lock" in before
    with sole_writer(study.parent / "fair" / "cell.sqlite"):
        for act in (delete_study, lambda path: rename_study(path, "just")):
            with pytest.raises(UsageError, match="writing the run 'cell'"):
                act(study)
    with sole_writer_of_study(study), pytest.raises(UsageError, match="writing the study 'fair'"):
        delete_study(study)
    assert names(study.parent) == before


def test_a_study_that_is_made_is_locked(tmp_path: Path) -> None:
    targets = [FakeTarget({"good": 2.0}, name="a"), FakeTarget({"good": 3.0}, name="b")]
    arguments = {"limit": 2, "name": "fair", "folder": tmp_path, "workers": 1}
    path, message = tmp_path / "fair.study.json", "writing the study 'fair'"
    with sole_writer_of_study(path), pytest.raises(UsageError, match=message):
        grid(targets, FILMS, "key", **arguments)
    grid(targets, FILMS, "key", **arguments)
    assert GridStudy.load(rename_study(tmp_path / "fair.study.json", "just")).name == "just"


def targets() -> list[FakeTarget]:
    return [FakeTarget({"good": 2.0}, name="a"), FakeTarget({"good": 3.0}, name="b")]


def make_grid(folder: Path) -> None:
    grid(targets(), FILMS, "key", limit=2, name="fair", folder=folder)


def make_transfer(folder: Path) -> None:
    transfer(targets(), FILMS, "key", limit=2, name="fair", folder=folder)


def make_robustness(folder: Path) -> None:
    settings: dict[str, Any] = {"samples": 5, "step": 0.5, "radius": 1.0, "limit": 2}
    robustness(targets(), FILMS, FakeGenerator(), name="fair", folder=folder, **settings)


MAKERS = [make_grid, make_transfer, make_robustness]


def write_sources(folder: Path) -> None:
    """Write somebody's work into a folder that is called like the study."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.py").write_text("print('years of work')")


def test_somebody_elses_folder_of_that_name_is_neither_deleted_nor_moved(tmp_path: Path) -> None:
    path, sources = tmp_path / "fair.study.json", tmp_path / "fair"
    write_sources(sources)
    path.write_text(json.dumps({"kind": "grid", "format": 1, "name": "fair"}))
    before = names(sources)
    assert others_folder(path) == sources
    new = rename_study(path, "just")
    assert names(sources) == before and not (tmp_path / "just").exists()
    assert delete_study(rename_study(new, "fair-2")) == [tmp_path / "fair-2.study.json"]
    path.write_text("{}")
    assert delete_study(path) == [path]
    assert names(sources) == before  # no locks, and nothing else


@pytest.mark.parametrize("make", MAKERS)
def test_a_study_marks_the_folder_that_it_makes(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path)
    path = tmp_path / "fair.study.json"
    assert json.loads((tmp_path / "fair" / MARKER).read_text()) == {"study": "fair"}
    (tmp_path / "fair" / "notes.txt").write_text("notes on it")
    assert own_folder(path) == tmp_path / "fair"
    new = rename_study(path, "just")
    assert own_folder(new) == tmp_path / "just" and (tmp_path / "just" / "notes.txt").exists()
    assert delete_study(new) == [tmp_path / "just", new]
    assert names(tmp_path) == []


@pytest.mark.parametrize("make", MAKERS)
def test_the_folder_of_a_study_without_a_marker_is_known_by_its_contents_alone(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path)
    path, folder = tmp_path / "fair.study.json", tmp_path / "fair"
    (folder / MARKER).unlink()
    assert own_folder(path) == folder
    (folder / "main.py").write_text("print('my work')")
    assert own_folder(path) is None
    (folder / "main.py").unlink()
    (folder / "tasks").mkdir(exist_ok=True)
    (folder / "tasks" / "link.json").symlink_to(tmp_path / "elsewhere.json")
    assert own_folder(path) is None
    (folder / "tasks" / "link.json").unlink()
    assert own_folder(path) == folder
    path.write_text("{}")  # it names nothing in the folder
    assert own_folder(path) is None


def test_a_study_that_is_made_again_marks_its_folder(tmp_path: Path) -> None:
    make_grid(tmp_path)
    (tmp_path / "fair" / MARKER).unlink()
    make_grid(tmp_path)
    assert (tmp_path / "fair" / MARKER).is_file()


def test_a_folder_that_was_there_before_the_study_gets_no_marker(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_sources(tmp_path / "fair")
    make_grid(tmp_path)
    assert "existed before the study" in caplog.text
    assert delete_study(tmp_path / "fair.study.json") == [tmp_path / "fair.study.json"]
    assert (tmp_path / "fair" / "src" / "main.py").exists()


def test_the_marker_of_another_study_and_a_link_do_not_count(tmp_path: Path) -> None:
    make_grid(tmp_path)
    path, folder = tmp_path / "fair.study.json", tmp_path / "fair"
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / "main.py").write_text("print('my work')")
    (tmp_path / "copy.study.json").write_text(json.dumps({"name": "copy"}))
    assert own_folder(tmp_path / "copy.study.json") is None
    os.rename(folder, tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    assert own_folder(path) is None
    assert delete_study(path) == [path]
    assert (tmp_path / "moved" / MARKER).exists()


@pytest.mark.parametrize("content", ["", "[1]", "nothing", "\x00"])
def test_what_is_no_study_is_not_renamed(tmp_path: Path, content: str) -> None:
    path = tmp_path / "fair.study.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"fair\.study\.json is not a study"):
        rename_study(path, "just")
    assert path.exists() and not (tmp_path / "just.study.json").exists()
