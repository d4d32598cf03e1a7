"""Runs and studies are their owner's alone, and no link leads a write elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import brittle
from brittle.errors import UsageError
from brittle.inside import inside_path
from brittle.runs.run import Run
from brittle.runs.store import Store
from brittle.safety import files
from brittle.studies.grid.study import GridStudy
from brittle.studies.rules.tasks import MiningData, mine_in_folder
from brittle.testing import FakeGenerator, FakeInside, FakeTarget
from brittle.workflow.artifacts import pack, unpack
from brittle.workflow.tasks import Task, TaskContext, store_result
from brittle.zoo.folder import hold_lock
from brittle.zoo.trees import KeptParses

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


FILMS = [("a good film", "positive"), ("a good one", "positive")]


def targets() -> list[FakeTarget]:
    return [FakeTarget({"good": 2.0}, name="a"), FakeTarget({"good": 3.0}, name="b")]


def make_grid(folder: Path) -> None:
    brittle.grid(targets(), FILMS, "key", limit=2, name="study", folder=folder)


def make_transfer(folder: Path) -> None:
    brittle.transfer(targets(), FILMS, "key", limit=2, name="study", folder=folder)


def make_robustness(folder: Path) -> None:
    settings = {"samples": 5, "step": 0.5, "radius": 1.0, "limit": 2, "name": "study"}
    brittle.robustness(targets(), FILMS, FakeGenerator(), folder=folder, **settings)


def make_annotation(folder: Path) -> None:
    run = brittle.attack(targets()[0], FILMS, "pwws", candidates="paper", folder=folder, name="run")
    run.annotate(folder.parent / "pages", people=1)


def make_inside(folder: Path) -> None:
    target = FakeInside({"good": 2.0})
    run = brittle.attack(target, FILMS, "pwws", candidates="paper", folder=folder, name="run")
    run.inside(target)
    assert inside_path(run.path).is_file()


def make_rules(folder: Path) -> None:
    texts = folder.parent / "films.csv"
    pairs = [("good", "pos"), ("bad", "neg")]
    rows = [f"a {word} film {n},{label}" for n in range(20) for word, label in pairs]
    texts.write_text("\n".join(["text,label", *rows]))
    mine_in_folder(None, MiningData(str(texts)), folder, lambda message: None, method="pmi")


MAKERS = [make_grid, make_transfer, make_robustness, make_annotation, make_inside, make_rules]


@pytest.mark.parametrize("make", MAKERS)
def test_nobody_else_can_read_what_holds_texts(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    folder = tmp_path / "runs"
    make(folder)
    paths = [folder, *folder.rglob("*")]
    assert len(paths) > 2
    open_paths = {
        str(path.relative_to(tmp_path)): oct(mode(path))
        for path in paths
        if mode(path) != (0o700 if path.is_dir() else 0o600)
    }
    assert open_paths == {}


def test_a_study_that_others_could_read_is_made_private(tmp_path: Path) -> None:
    make_grid(tmp_path)
    path = tmp_path / "study.study.json"
    path.chmod(0o644)
    make_grid(tmp_path)
    assert mode(path) == 0o600


@pytest.mark.parametrize("make", [make_grid, make_transfer, make_robustness])
def test_the_lock_of_a_study_follows_no_link(tmp_path: Path, make: Callable[[Path], None]) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "runs"
    folder.mkdir()
    (folder / "study.study.lock").symlink_to(victim)
    with pytest.raises(UsageError, match="Studies cannot be written"):
        make(folder)
    assert not victim.exists()


def test_the_cases_of_a_study_are_added_to_no_link(tmp_path: Path) -> None:
    make_robustness(tmp_path)
    cases, victim = tmp_path / "study" / "cases.jsonl", tmp_path / "victim"
    victim.write_bytes(cases.read_bytes().splitlines(keepends=True)[0])
    cases.unlink()
    cases.symlink_to(victim)
    before = victim.read_bytes()
    with pytest.raises(OSError):
        make_robustness(tmp_path)
    assert victim.read_bytes() == before


def test_the_lock_of_a_model_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "model.lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError), hold_lock(tmp_path / "model"):
        pass
    assert not (tmp_path / "victim").exists()


class OneRoot:
    """A parser to which every word hangs under the first one."""

    name = "one root"

    def heads(self, sentences: Sequence[tuple[str, ...]]) -> list[tuple[int, ...]]:
        return [(-1, *[0] * (len(words) - 1)) for words in sentences]


def test_sentences_that_were_parsed_are_private(tmp_path: Path) -> None:
    path = tmp_path / "parses" / "one.sqlite"
    KeptParses(OneRoot(), path).heads([("a", "film")])
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)


def test_what_is_unpacked_is_private_but_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    task = Task("a", one, {})
    store_result(task, tmp_path / "here", {"task": "a", "key": task.key({}), "result": 1})
    pack([task], tmp_path / "here", tmp_path / "archive.zip")
    unpack(tmp_path / "archive.zip", tmp_path / "there")
    folders = [tmp_path / "there", tmp_path / "there" / "tasks"]
    assert [mode(path) for path in folders] == [0o700] * 2
    assert mode(task.file(tmp_path / "there")) == 0o600


def test_what_a_user_asks_for_by_path_has_the_permissions_of_the_system(tmp_path: Path) -> None:
    run = attack(tmp_path / "runs")
    paths = [run.report(tmp_path / "out.html"), run.export(tmp_path / "out.csv")]
    make_grid(tmp_path / "runs")
    study = GridStudy.load(tmp_path / "runs" / "study.study.json")
    paths += [study.report(tmp_path / "study.html"), study.export(tmp_path / "study.csv")]
    assert [mode(path) for path in paths] == [0o666] * 4
