"""Carry what finished tasks have left to another machine: one archive, checked by digests.

An archive is a zip file: a manifest, the stored results, and the files and folders that they name.
What is there already is never replaced, and a result comes with all of its files or not at all.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from brittle import files
from brittle.errors import UsageError
from brittle.unpacking import check_archive
from brittle.workflow.parcels import Parcel, Places, add_to, place
from brittle.workflow.tasks import Task, load_results

MANIFEST = "manifest.json"
FORMAT = "brittle workflow 1"
MIN_UNPACKED_BYTES = 1 << 30


@dataclass(frozen=True)
class Unpacked:
    """The names of the tasks whose results were added, were there, or could not be added.

    A result is refused if something else lies where it or one of its files belongs.
    """

    added: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Entry:
    """A task of an archive: its stored result, the files it names, and its memory."""

    task: str
    result: Parcel
    left: tuple[Parcel, ...]
    memory: Parcel | None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> _Entry:
        memory = Parcel(**value["memory"]) if value["memory"] else None
        left = tuple(Parcel(**parcel) for parcel in value["left"])
        return cls(str(value["task"]), Parcel(**value["result"]), left, memory)

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "result": vars(self.result),
            "left": [vars(parcel) for parcel in self.left],
            "memory": vars(self.memory) if self.memory else None,
        }


def pack(tasks: Sequence[Task], folder: Path, archive: Path) -> list[str]:
    """Write the stored results of tasks and all they name into an archive; return their names."""
    results = load_results(tasks, folder)
    if not results:
        raise UsageError(f"No task of {folder} is finished: there is nothing to pack.")
    places = Places(folder, files.cache_folder())
    finished = [task for task in tasks if task.name in results]
    entries = [_entry(task, results[task.name], places) for task in finished]
    parcels = {parcel for entry in entries for parcel in (entry.result, *entry.left)}
    parcels |= {entry.memory for entry in entries if entry.memory is not None}
    with files.replacing(archive) as new, ZipFile(new, "w", ZIP_DEFLATED) as out:
        manifest = {"format": FORMAT, "tasks": [entry.as_json() for entry in entries]}
        out.writestr(MANIFEST, json.dumps(manifest, indent=1))
        for parcel in sorted(parcels, key=lambda parcel: parcel.name):
            add_to(out, parcel.name, places.path(parcel.name))
    return [task.name for task in finished]


def _entry(task: Task, result: Any, places: Places) -> _Entry:
    paths = task.leaves(places.folder, result) if task.leaves is not None else ()
    memory = places.folder / task.memory if task.memory else None
    return _Entry(
        task.name,
        places.parcel(task.file(places.folder)),
        tuple(map(places.parcel, paths)),
        places.parcel(memory) if memory is not None and memory.exists() else None,
    )


def unpack(archive: Path, folder: Path) -> Unpacked:
    """Add the results of an archive, and what they name, to a folder and to the cache."""
    places, unpacked = Places(folder, files.cache_folder()), Unpacked()
    if not archive.is_file():
        raise UsageError(f"There is no file {str(archive)!r}. Name one that --pack has written.")
    try:
        with ZipFile(archive) as source:
            packed, remedy = archive.stat().st_size, "Unpack only archives of people you trust."
            check_archive(source, packed, str(archive), remedy, MIN_UNPACKED_BYTES)
            entries = _load_entries(source, folder)
            for entry in entries:
                getattr(unpacked, _add(source, entry, places)).append(entry.task)
    # A member that is missing, cut, encrypted, or compressed in a way that Python does not know.
    except (BadZipFile, KeyError, RuntimeError, zlib.error) as error:
        raise _not_ours(archive, str(error)) from error
    return unpacked


def _load_entries(source: ZipFile, folder: Path) -> list[_Entry]:
    archive = Path(str(source.filename))
    try:
        manifest = json.loads(source.read(MANIFEST))
        if manifest["format"] != FORMAT:
            raise ValueError(f"the format {manifest['format']!r}")
        entries = [_Entry.of(value) for value in manifest["tasks"]]
    except files.DAMAGED as error:
        raise _not_ours(archive, str(error)) from error
    folder.mkdir(parents=True, exist_ok=True)
    size, free = sum(info.file_size for info in source.infolist()), shutil.disk_usage(folder).free
    if size > free:
        raise UsageError(f"{archive} holds {size:,} bytes; {folder} has {free:,} bytes free.")
    return entries


def _add(source: ZipFile, entry: _Entry, places: Places) -> str:
    """Add the result of one task, after its files, and return what became of it."""
    path = places.path(entry.result.name)
    is_there = path.exists()
    if is_there and _key(path.read_bytes()) != _key(source.read(entry.result.name)):
        return "refused"
    missing = [parcel for parcel in entry.left if not places.has(parcel)]
    if is_there and not missing:
        return "there"
    if any(places.path(parcel.name).exists() for parcel in missing):
        return "refused"
    if entry.memory is not None and not places.path(entry.memory.name).exists():
        missing.append(entry.memory)
    for parcel in (*missing, entry.result):
        place(source, parcel, places)
    return "added"


def _key(stored: bytes) -> Any:
    try:
        return json.loads(stored)["key"]
    except files.DAMAGED:
        return None


def _not_ours(archive: Path, reason: str) -> UsageError:
    return UsageError(f"{archive} is damaged, or was not written by --pack: {reason}.")
