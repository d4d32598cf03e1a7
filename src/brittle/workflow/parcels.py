"""Files and folders that travel: by a name that holds on every machine, and checked by a digest.

The name of a parcel says where it belongs: `folder/…` in the folder of a workflow, `cache/…` in the
cache. It travels in a zip file, which holds no links; no name leads out of these two places.
"""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from brittle import files
from brittle.errors import StoreError, UsageError


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
        for place, root in (("folder", self.folder), ("cache", self.cache)):
            if path.absolute().is_relative_to(root.absolute()):
                return f"{place}/{path.absolute().relative_to(root.absolute()).as_posix()}"
        raise ValueError(f"{path} lies neither in {self.folder} nor in {self.cache}.")

    def path(self, name: str) -> Path:
        """Return where a parcel belongs on this machine; a name that leads elsewhere is refused."""
        place, *parts = _parts(name)
        return {"folder": self.folder, "cache": self.cache}[place].joinpath(*parts)

    def parcel(self, path: Path) -> Parcel:
        return Parcel(self.name(path), content_digest(path))

    def has(self, parcel: Parcel) -> bool:
        """Tell whether the parcel lies in its place, with the same contents."""
        path = self.path(parcel.name)
        return path.exists() and content_digest(path) == parcel.digest


def _parts(name: str) -> list[str]:
    parts = name.split("/")
    is_plain = all(part not in ("", ".", "..") and not set(part) & set("\\:\0") for part in parts)
    if len(parts) < 2 or parts[0] not in ("folder", "cache") or not is_plain:
        raise UsageError(
            f"The name {name!r} leads out of the folder that is unpacked into, or to no file. "
            "Expected folder/… or cache/…; the archive is damaged, or not of brittle."
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


def place(archive: ZipFile, parcel: Parcel, places: Places) -> None:
    """Put a parcel of an archive into its place, whole or not at all; it replaces what is there."""
    path = places.path(parcel.name)
    new = path.with_name(f"{path.name}.new")  # a file, or a folder of them
    _remove(new)
    try:
        for member in sorted(set(archive.namelist())):
            if member == parcel.name or member.startswith(f"{parcel.name}/"):
                _parts(member)
                to = new / member.removeprefix(parcel.name).removeprefix("/")
                to.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, to.open("wb") as target:
                    shutil.copyfileobj(source, target)
        if not new.exists() or content_digest(new) != parcel.digest:
            raise StoreError(
                f"{parcel.name} is damaged: its contents are not those that were sent."
            )
        _remove(path)
        new.rename(path)
    finally:
        _remove(new)


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
            (places.cache / "parcels.lock").open("a+b") as file,
            ZipFile(io.BytesIO(content)) as archive,
        ):
            files.lock(file, wait=True)
            for parcel in parcels:
                if not places.has(parcel):
                    place(archive, parcel, places)
    except BadZipFile as error:
        raise StoreError(f"What was sent is damaged: {error}.") from error


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
