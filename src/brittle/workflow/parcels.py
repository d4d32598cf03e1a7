"""Files and folders that travel: by a name that holds on every machine, and checked by a digest.

The name of a parcel says where it belongs: `folder/…` in the folder of a workflow, `cache/…` in the
cache. It travels in a zip file, which holds no links; no name leads out of these two places.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from brittle import files
from brittle.errors import StoreError

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
        raise ValueError(f"{path} lies neither in {self.folder} nor in {self.cache}.")

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
            f"The name {name!r} leads out of the folder that is unpacked into, or to no file. "
            "Expected folder/… or cache/…."
        )
    return parts


def content_digest(path: Path) -> str:
    """Compute one SHA-256 over a file, or over the names and contents of a folder's files."""
    if not path.exists():
        raise StoreError(f"{path} is missing, though a result names it.")
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
            raise StoreError(
                f"{parcel.name} is damaged: its contents are not those that were sent."
            )
        if os.path.lexists(path):
            if not replaces:
                raise StoreError(f"{path} is there already, and is not replaced.")
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
        raise StoreError(f"What was sent is damaged: {error}.") from error


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
