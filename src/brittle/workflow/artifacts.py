"""Files that travel: what finished tasks leave goes to another machine, checked by digests.

Files and folders that travel: by a name that holds on every machine, and checked by a digest.

The name of a parcel says where it belongs: `folder/…` in the folder of a workflow, `cache/…` in the
cache. It travels in a zip file, which holds no links; no name leads out of these two places.

Carry what finished tasks have left to another machine: one archive, checked by digests.

An archive is a zip file: a manifest, the stored results, and the files and folders that they name.
What is there already is never replaced, and a result comes with all of its files or not at all.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from brittle.errors import BrittleError, StoreError, UsageError
from brittle.safety import files
from brittle.safety.files import DAMAGED_ARCHIVE, check_archive, too_large
from brittle.safety.schema import Malformed, parse
from brittle.workflow.tasks import Task, load_results

FOLDER, CACHE = "folder", "cache"


@dataclass(frozen=True)
class Parcel:
    """A file or folder by its name and the SHA-256 of its contents."""

    name: str
    digest: str


@dataclass(frozen=True)
class Places:
    """Where parcels lie on one machine: the folder of a workflow, and the cache."""

    folder: Path
    cache: Path

    def name(self, path: Path) -> str:
        """Return the name of a path that holds on every machine."""
        for place, root in ((FOLDER, self.folder), (CACHE, self.cache)):
            # Without "..", by which a result could name what lies elsewhere.
            own, base = (Path(os.path.abspath(part)) for part in (path, root))
            if own != base and own.is_relative_to(base):
                return f"{place}/{own.relative_to(base).as_posix()}"
        raise ValueError(f"{path} is neither in {self.folder} nor in {self.cache}.")

    def path(self, name: str) -> Path:
        """Return where a parcel belongs on this machine; a name that leads elsewhere is refused."""
        place, *parts = _parts(name)
        return {FOLDER: self.folder, CACHE: self.cache}[place].joinpath(*parts)

    def parcel(self, path: Path) -> Parcel:
        return Parcel(self.name(path), content_digest(path))

    def has(self, parcel: Parcel) -> bool:
        """Tell whether the parcel lies in its place, with the same contents."""
        path = self.path(parcel.name)
        return path.exists() and content_digest(path) == parcel.digest


def _parts(name: str) -> list[str]:
    parts = name.split("/")
    is_plain = all(part not in ("", ".", "..") and not set(part) & set("\\:\0") for part in parts)
    if len(parts) < 2 or parts[0] not in (FOLDER, CACHE) or not is_plain:
        raise StoreError(
            f"The name {name!r} leads out of the target folder, or not to a file. "
            "Expected folder/… or cache/…."
        )
    return parts


def content_digest(path: Path) -> str:
    """Compute one SHA-256 over a file, or over the names and contents of a folder's files."""
    if not path.exists():
        raise StoreError(f"{path} is missing, but a result refers to it.")
    total = hashlib.sha256()
    for file in _files(path):
        total.update(f"{file.relative_to(path).as_posix()} {files.digest(file)}\n".encode())
    return total.hexdigest()


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())


def add_to(archive: ZipFile, name: str, path: Path) -> None:
    """Write a file, or all files of a folder, into an archive."""
    for file in _files(path):
        archive.write(file, name if file == path else f"{name}/{file.relative_to(path).as_posix()}")


def place(archive: ZipFile, parcel: Parcel, places: Places, replaces: bool) -> None:
    """Put a parcel of an archive into its place, whole or not at all.

    Where something is there already it is replaced, or, unless the parcel `replaces` it, an error.
    """
    path = places.path(parcel.name)
    # A file, or a folder of them; of a name that is nobody else's.
    new = path.with_name(f"{path.name[:200]}.{secrets.token_hex(4)}.new")
    try:
        for member in _members(archive, parcel.name):
            _parts(member)
            to = new / member.removeprefix(parcel.name).removeprefix("/")
            _extract(archive, member, to, is_private=member.startswith(f"{FOLDER}/"))
        if not new.exists() or content_digest(new) != parcel.digest:
            raise StoreError(f"{parcel.name} is damaged: its contents differ from what was sent.")
        if os.path.lexists(path):
            if not replaces:
                raise StoreError(f"{path} already exists, and brittle does not replace it.")
            _remove(path)
        new.rename(path)
    finally:
        _remove(new)


def _members(archive: ZipFile, name: str) -> list[str]:
    """List the members of a parcel: the file of its name, or the files of the folder."""
    if name in archive.NameToInfo:
        return [name]
    return sorted(member for member in archive.NameToInfo if member.startswith(f"{name}/"))


def _extract(archive: ZipFile, member: str, to: Path, is_private: bool) -> None:
    """Write a member to a new file; runs and results are private, models as the system has it."""
    if is_private:
        files.make_private_folder(to.parent)
    else:
        to.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    mode = 0o600 if is_private else 0o666
    with archive.open(member) as source, os.fdopen(os.open(to, flags, mode), "wb") as target:
        shutil.copyfileobj(source, target)


def wrap(paths: Iterable[Path], places: Places) -> tuple[list[Parcel], bytes]:
    """Return files and folders as parcels, and the contents of all as one archive."""
    buffer, parcels = io.BytesIO(), []
    with ZipFile(buffer, "w", strict_timestamps=False) as archive:
        for path in paths:
            parcels.append(places.parcel(path))
            add_to(archive, parcels[-1].name, path)
    return parcels, buffer.getvalue()


def unwrap(parcels: Iterable[Parcel], content: bytes, places: Places) -> None:
    """Put parcels into their places, except those that are there; one process at a time."""
    places.cache.mkdir(parents=True, exist_ok=True)
    try:
        with (
            files.open_lock(places.cache / "parcels.lock") as file,
            ZipFile(io.BytesIO(content)) as archive,
        ):
            files.lock(file, wait=True)
            for parcel in parcels:
                if not places.has(parcel):
                    place(archive, parcel, places, replaces=True)
    except BadZipFile as error:
        raise StoreError(f"The received data is damaged: {error}.") from error


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


MANIFEST = "manifest.json"
MIN_UNPACKED_BYTES = 1 << 30
MAX_MANIFEST_BYTES = 1 << 24  # some 500 bytes for a task
MAX_RESULT_BYTES = 1 << 26  # of a result that is read to compare it
REMEDY = "Unpack archives only from people you trust."


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
        raise UsageError(f"No task of {folder} is finished, so there is nothing to pack.")
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
        raise UsageError(f"There is no file {str(archive)!r}. Use a file written by --pack.")
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
        message = f"{archive} cannot be unpacked: {error}. The tasks added so far are complete."
        raise UsageError(message) from error
    except (BrittleError, *DAMAGED_ARCHIVE) as error:
        raise UsageError(
            f"{archive} is damaged, or was not written by --pack: {error}. The tasks "
            "added so far are complete."
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
                raise Malformed(f"nothing at {one[:-1]}", other[:-1], entry.task)
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
