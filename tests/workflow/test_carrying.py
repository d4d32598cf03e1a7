"""Finished tasks are carried to another machine: whole, unchanged, and to nowhere else."""

from __future__ import annotations

import hashlib
import json
import shutil
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from brittle.errors import BrittleError, StoreError, UsageError
from brittle.safety import files
from brittle.workflow.artifacts import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    Places,
    pack,
    unpack,
    unwrap,
    wrap,
)
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Task, TaskContext


def train(context: TaskContext, *, words: list[str]) -> dict[str, Any]:
    model = files.cache_folder() / "models" / context.unique_name
    (model / "parts").mkdir(parents=True)
    (model / "card").write_text("a card")
    (model / "parts" / "weights").write_text(" ".join(words))
    (context.folder / "memory").write_text("remembered")
    return {"model": model.name}


def model_folders(folder: Path, result: dict[str, Any]) -> list[Path]:
    return [files.cache_folder() / "models" / result["model"]]


def count(context: TaskContext) -> dict[str, Any]:
    run = context.folder / f"{context.unique_name}.run"
    weights = files.cache_folder() / "models" / context.needs["train"]["model"] / "parts/weights"
    run.write_text(weights.read_text() * 2)
    return {"run": run.name}


def run_files(folder: Path, result: dict[str, Any]) -> list[Path]:
    return [folder / result["run"]]


TASKS = [
    Task("train", train, {"words": ["good", "bad"]}, leaves=model_folders, memory="memory"),
    Task("count", count, needs=("train",), leaves=run_files),
    Task("later", count, needs=("train",), leaves=run_files),
]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Change to a machine: a cache and a workflow's folder of its own."""

    def change(name: str) -> Path:
        monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / name / "cache"))
        return tmp_path / name / "folder"

    return change


@pytest.fixture
def archive(tmp_path: Path, machine: Callable[[str], Path]) -> Path:
    folder = machine("one")
    run_tasks(TASKS[:2], folder_of(folder), print)
    assert pack(TASKS, folder, tmp_path / "archive") == ["train", "count"]
    return tmp_path / "archive"


def folder_of(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_finished_tasks_go_on_elsewhere(
    archive: Path, machine: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = machine("two")
    unpacked = unpack(archive, folder)
    assert (unpacked.added, unpacked.there, unpacked.refused) == (["train", "count"], [], [])
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    messages: list[str] = []
    run_tasks(TASKS, folder, messages.append)
    assert [line.split("] ")[1] for line in messages] == ["later: begins", "later: done"]
    assert unpack(archive, folder).there == ["train", "count"]


def test_nothing_that_is_there_is_replaced(
    archive: Path, machine: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = machine("two")
    # A model of the same name with other weights: the result would not be about it.
    other = (
        tmp_path
        / "two"
        / "cache"
        / "models"
        / next(iter((tmp_path / "one/cache/models").iterdir())).name
    )
    other.mkdir(parents=True)
    (other / "card").write_text("another card")
    unpacked = unpack(archive, folder)
    assert unpacked.refused == ["train"] and unpacked.added == ["count"]
    assert contents(other) == {"card": b"another card"} and not TASKS[0].file(folder).exists()
    # A result of other settings stays, too.
    folder = machine("three")
    changed = replace(TASKS[0], arguments={"words": ["other"]})
    run_tasks([changed], folder_of(folder), print)
    before = contents(folder)
    assert unpack(archive, folder).refused == ["train"]
    assert contents(folder).items() >= before.items()


@pytest.mark.parametrize(
    "content", [b"my own notes", b"", b"[1]", b'{"key": null}', b'{"key": [1]}', b"\xff\xfe"]
)
def test_a_file_that_is_no_result_is_not_replaced_either(
    archive: Path, machine: Callable[[str], Path], content: bytes
) -> None:
    """Neither is what the archive has in its place: a result, or another file that is none."""
    folder = machine("two")
    file = TASKS[0].file(folder)
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert unpack(archive, folder).refused == ["train"]
    assert file.read_bytes() == content

    def no_result(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
        result = manifest["tasks"][0]["result"]
        members[result["name"]] = b"no result"
        # As `content_digest` computes it for a single file.
        inner = hashlib.sha256(b"no result").hexdigest()
        result["digest"] = hashlib.sha256(f". {inner}\n".encode()).hexdigest()

    assert unpack(rewrite(archive, no_result), folder).refused == ["train"]
    assert file.read_bytes() == content


def test_a_result_of_the_same_task_stays_as_it_is(
    archive: Path, machine: Callable[[str], Path]
) -> None:
    folder = machine("two")
    unpack(archive, folder)
    file = TASKS[0].file(folder)
    slower = json.loads(file.read_text()) | {"seconds": 99.0}
    file.write_text(json.dumps(slower))
    assert unpack(archive, folder).there == ["train", "count"]
    assert json.loads(file.read_text()) == slower
    # A file that it names is gone: that of the archive is of another result.
    next(folder.glob("*.run")).unlink()
    shutil.rmtree(files.cache_folder() / "models")
    unpacked = unpack(archive, folder)
    assert (unpacked.refused, unpacked.added) == (["train"], ["count"])
    assert json.loads(file.read_text()) == slower


def test_files_that_are_called_like_unfinished_ones_stay(
    archive: Path, machine: Callable[[str], Path]
) -> None:
    folder = machine("two")
    with ZipFile(archive) as source:
        (run,) = (name for name in source.namelist() if name.endswith(".run"))
    own = folder_of(folder) / f"{Path(run).name}.new"
    own.mkdir()
    (own / "work").write_text("mine")
    assert unpack(archive, folder).added == ["train", "count"]
    assert (own / "work").read_text() == "mine"


def test_a_link_in_the_place_of_a_file_stays(
    archive: Path, machine: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = machine("two")
    TASKS[0].file(folder).parent.mkdir(parents=True)
    TASKS[0].file(folder).symlink_to(tmp_path / "nowhere")
    assert unpack(archive, folder).refused == ["train"]
    assert TASKS[0].file(folder).is_symlink() and not (tmp_path / "nowhere").exists()


def test_a_huge_manifest_is_refused_before_it_is_read(
    tmp_path: Path, machine: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "huge.zip"
    block = b" " * (1 << 20)
    with ZipFile(archive, "w", ZIP_DEFLATED) as out, out.open(MANIFEST, "w") as manifest:
        for _ in range(200):
            manifest.write(block)
    assert archive.stat().st_size < 1 << 20 < MAX_MANIFEST_BYTES
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=r"The manifest of .*huge.zip expands to more than"):
            unpack(archive, machine("two"))
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


def same_place(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    entry = manifest["tasks"][0]
    entry["left"].append(entry["result"] | {"digest": "0" * 64})


def inside_another(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    entry = manifest["tasks"][0]
    entry["left"].append({"name": f"{entry['left'][0]['name']}/card", "digest": "0" * 64})


@pytest.mark.parametrize("change", [same_place, inside_another])
def test_two_files_of_a_task_are_not_in_one_place(
    archive: Path,
    machine: Callable[[str], Path],
    tmp_path: Path,
    change: Callable[[dict[str, Any], dict[str, bytes]], None],
) -> None:
    folder = machine("two")
    with pytest.raises(UsageError, match=r"archive is damaged.*expected nothing at"):
        unpack(rewrite(archive, change), folder)
    assert contents(tmp_path / "two") == {}


def test_nothing_outside_of_the_two_places_is_packed(
    tmp_path: Path, machine: Callable[[str], Path]
) -> None:
    """A result that names ../secret, by accident or by malice, takes nothing along."""
    folder = machine("one")
    run_tasks(TASKS[:2], folder_of(folder), print)
    (folder.parent / "secret").write_text("a key")
    file = TASKS[1].file(folder)
    stored = json.loads(file.read_text())
    file.write_text(json.dumps(stored | {"result": {"run": "../secret"}}))
    assert pack(TASKS, folder, tmp_path / "archive") == ["train"]
    with ZipFile(tmp_path / "archive") as packed:
        assert not any("secret" in name for name in packed.namelist())


def rewrite(archive: Path, change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> Path:
    """Write an archive with other contents."""
    with ZipFile(archive) as source:
        members = {name: source.read(name) for name in source.namelist()}
    manifest = json.loads(members.pop(MANIFEST))
    change(manifest, members)
    with ZipFile(archive, "w") as target:
        target.writestr(MANIFEST, json.dumps(manifest))
        for name, content in members.items():
            target.writestr(name, content)
    return archive


@pytest.mark.parametrize(
    "name",
    [
        "folder/../../evil",
        "/evil",
        "cache",
        "folder//evil",
        "folder/a\\..\\evil",
        "c:/evil",
        "folder/.",
    ],
)
def test_no_name_leads_out(
    archive: Path, machine: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    def as_parcel(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
        manifest["tasks"][0]["left"][0]["name"] = name
        members[name] = b"evil"

    folder = machine("two")
    with pytest.raises(UsageError, match="leads out of the target folder"):
        unpack(rewrite(archive, as_parcel), folder)
    assert contents(tmp_path / "two") == {} and not list(tmp_path.rglob("evil"))


def test_no_member_of_a_folder_leads_out(
    archive: Path, machine: Callable[[str], Path], tmp_path: Path
) -> None:
    def as_member(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
        members[f"{manifest['tasks'][0]['left'][0]['name']}/../../../evil"] = b"evil"

    folder = machine("two")
    with pytest.raises(UsageError, match="leads out of the target folder"):
        unpack(rewrite(archive, as_member), folder)
    assert contents(tmp_path / "two") == {} and not list(tmp_path.rglob("evil"))


def damage_weights(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    members.update({name: b"other" for name in members if name.endswith("weights")})


def lose_weights(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    for name in [name for name in members if name.endswith("weights")]:
        del members[name]


def other_format(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    manifest["format"] = "something else"


def no_tasks(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    manifest["tasks"] = [{"task": "train"}]


@pytest.mark.parametrize("change", [damage_weights, lose_weights, other_format, no_tasks])
def test_a_damaged_archive_adds_nothing(
    archive: Path,
    machine: Callable[[str], Path],
    tmp_path: Path,
    change: Callable[[dict[str, Any], dict[str, bytes]], None],
) -> None:
    folder = machine("two")
    with pytest.raises(BrittleError, match="is damaged"):
        unpack(rewrite(archive, change), folder)
    assert contents(tmp_path / "two") == {}


def test_what_is_no_archive(tmp_path: Path, machine: Callable[[str], Path]) -> None:
    folder = machine("two")
    (tmp_path / "text").write_text("no archive")
    with pytest.raises(UsageError, match="was not written by --pack"):
        unpack(tmp_path / "text", folder)
    with pytest.raises(UsageError, match="there is nothing to pack"):
        pack(TASKS, folder, tmp_path / "archive")


def test_parcels_replace_what_differs_and_keep_what_is_equal(tmp_path: Path) -> None:
    here = Places(tmp_path / "here", tmp_path / "cache")
    there = Places(tmp_path / "there", tmp_path / "other")
    model = here.cache / "models" / "m"
    model.mkdir(parents=True)
    (model / "weights").write_text("1 2 3")
    parcels, content = wrap([model], here)
    unwrap(parcels, content, there)
    copy = there.cache / "models" / "m" / "weights"
    assert copy.read_text() == "1 2 3"
    before = copy.stat().st_ino
    unwrap(parcels, content, there)
    assert copy.stat().st_ino == before
    copy.write_text("4")
    (copy.parent / "more").write_text("5")
    unwrap(parcels, content, there)
    assert contents(copy.parent) == {"weights": b"1 2 3"}
    with pytest.raises(StoreError, match="damaged"):
        unwrap(parcels, content[:-20], Places(tmp_path / "a", tmp_path / "b"))
    with pytest.raises(ValueError, match="is neither in"):
        here.name(tmp_path / "elsewhere")
