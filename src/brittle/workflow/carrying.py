"""Carry what finished tasks have left to another machine: one archive, checked by digests.

An archive is a zip file: a manifest, the stored results, and the files and folders that they name.
What is there already is never replaced, and a result comes with all of its files or not at all.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal
from zipfile import ZIP_DEFLATED, ZipFile

from brittle import files
from brittle.errors import BrittleError, UsageError
from brittle.schema import Malformed, parse
from brittle.unpacking import DAMAGED_ARCHIVE, check_archive, too_large
from brittle.workflow.parcels import Parcel, Places, add_to, place
from brittle.workflow.tasks import Task, load_results

MANIFEST = "manifest.json"
MIN_UNPACKED_BYTES = 1 << 30
MAX_MANIFEST_BYTES = 1 << 24  # some 500 bytes for a task
MAX_RESULT_BYTES = 1 << 26  # of a result that is read to compare it
REMEDY = "Unpack only archives of people you trust."


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

    @property
    def parcels(self) -> tuple[Parcel, ...]:
        return (self.result, *self.left, *([self.memory] if self.memory is not None else []))


@dataclass(frozen=True)
class _Manifest:
    """What an archive says of itself."""

    format: Literal["brittle workflow 1"]
    tasks: tuple[_Entry, ...]


def pack(tasks: Sequence[Task], folder: Path, archive: Path) -> list[str]:
    """Write the stored results of tasks and all they name into an archive; return their names."""
    results = load_results(tasks, folder)
    if not results:
        raise UsageError(f"No task of {folder} is finished: there is nothing to pack.")
    places = Places(folder, files.cache_folder())
    finished = [task for task in tasks if task.name in results]
    entries = tuple(_entry(task, results[task.name], places) for task in finished)
    parcels = {parcel for entry in entries for parcel in entry.parcels}
    with files.replacing(archive) as new, ZipFile(new, "w", ZIP_DEFLATED) as out:
        manifest = _Manifest("brittle workflow 1", entries)
        out.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))
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
            check_archive(source, archive.stat().st_size, str(archive), REMEDY, MIN_UNPACKED_BYTES)
            entries = _load_entries(source, archive)
            for parcel in (parcel for entry in entries for parcel in entry.parcels):
                places.path(parcel.name)  # refuses names that lead out, before anything is added
            _check_room(source, archive, folder)
            for entry in entries:
                getattr(unpacked, _add(source, entry, places)).append(entry.task)
    except UsageError:
        raise
    except OSError as error:
        message = f"{archive} cannot be unpacked: {error}. What was added is whole."
        raise UsageError(message) from error
    except (BrittleError, *DAMAGED_ARCHIVE) as error:
        raise UsageError(
            f"{archive} is damaged, or was not written by --pack: {error}. What was added is whole."
        ) from error
    return unpacked


def _load_entries(source: ZipFile, archive: Path) -> tuple[_Entry, ...]:
    """Load the manifest; one that is too large is refused before it is read."""
    if source.getinfo(MANIFEST).file_size > MAX_MANIFEST_BYTES:
        raise too_large(f"The manifest of {archive}", MAX_MANIFEST_BYTES, REMEDY)
    manifest = parse(_Manifest, json.loads(source.read(MANIFEST)))
    for entry in manifest.tasks:
        # What lies in a folder comes right after it.
        names = sorted(f"{parcel.name}/" for parcel in entry.parcels)
        for one, other in pairwise(names):
            if other.startswith(one):
                raise Malformed(f"nothing in the place of {one[:-1]}", other[:-1], entry.task)
    return manifest.tasks


def _check_room(source: ZipFile, archive: Path, folder: Path) -> None:
    files.make_private_folder(folder)
    size, free = sum(info.file_size for info in source.infolist()), shutil.disk_usage(folder).free
    if size > free:
        raise UsageError(f"{archive} holds {size:,} bytes; {folder} has {free:,} bytes free.")


def _add(source: ZipFile, entry: _Entry, places: Places) -> str:
    """Add the result of one task, after its files, and return what became of it.

    Nothing that is there is replaced. A result that differs from that of the archive counts as
    there if it is of the same task, and all files that the archive has of it are there.
    """
    missing = [parcel for parcel in entry.left if not places.has(parcel)]
    is_there = os.path.lexists(places.path(entry.result.name))
    if is_there and not places.has(entry.result):
        is_same = not missing and _is_of_same_task(source, entry.result, places)
        return "there" if is_same else "refused"
    if is_there and not missing:
        return "there"
    if any(os.path.lexists(places.path(parcel.name)) for parcel in missing):
        return "refused"
    if entry.memory is not None and not os.path.lexists(places.path(entry.memory.name)):
        missing.append(entry.memory)
    for parcel in (*missing, *([] if is_there else [entry.result])):
        place(source, parcel, places, replaces=False)
    return "added"


def _is_of_same_task(source: ZipFile, result: Parcel, places: Places) -> bool:
    """Tell whether two results that differ have the same key, and so the same settings and data."""
    path = places.path(result.name)
    if not path.is_file() or source.getinfo(result.name).file_size > MAX_RESULT_BYTES:
        return False
    own = _key(path.read_bytes())
    return own is not None and own == _key(source.read(result.name))


def _key(stored: bytes) -> str | None:
    """Return the key of a stored result; None if it has none."""
    try:
        return parse(str, json.loads(stored)["key"])
    except files.DAMAGED:
        return None
