"""Studies are deleted and renamed with their folders, never while another process writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brittle import attack, grid
from brittle.errors import UsageError
from brittle.runs.store import sole_writer
from brittle.studies.grid.study import GridStudy
from brittle.studies.study_files import delete_study, rename_study, sole_writer_of_study
from brittle.testing import FakeTarget

FILMS = [("a good film", "positive"), ("a good one", "positive")]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The file of a study with a run in its folder, beside another run."""
    attack(FakeTarget({"good": 2.0}), FILMS, folder=tmp_path, name="alone")
    attack(FakeTarget({"good": 2.0}), FILMS, folder=tmp_path / "fair", name="cell")
    path = tmp_path / "fair.study.json"
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
    with pytest.raises(UsageError, match="is there already"):
        rename_study(study, "there")


def test_what_is_written_is_left_alone(study: Path) -> None:
    before = names(study.parent)
    with sole_writer(study.parent / "fair" / "cell.sqlite"):
        for act in (delete_study, lambda path: rename_study(path, "just")):
            with pytest.raises(UsageError, match="writing the run 'cell'"):
                act(study)
    with sole_writer_of_study(study), pytest.raises(UsageError, match="writing the study 'fair'"):
        delete_study(study)
    assert set(names(study.parent)) == {*before, "fair.study.lock"}


def test_a_study_that_is_made_is_locked(tmp_path: Path) -> None:
    targets = [FakeTarget({"good": 2.0}, name="a"), FakeTarget({"good": 3.0}, name="b")]
    arguments = {"limit": 2, "name": "fair", "folder": tmp_path, "workers": 1}
    path, message = tmp_path / "fair.study.json", "writing the study 'fair'"
    with sole_writer_of_study(path), pytest.raises(UsageError, match=message):
        grid(targets, "key", FILMS, **arguments)
    grid(targets, "key", FILMS, **arguments)
    assert GridStudy.load(rename_study(tmp_path / "fair.study.json", "just")).name == "just"
