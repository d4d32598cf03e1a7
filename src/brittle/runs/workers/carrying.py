"""The files of a model, sent to machines that do not have them: weights travel by content."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.files import cache_folder
from brittle.zoo.model_cache import trained_models

OTHERS = "carried"
"""The folder of the cache for models that are not of the zoo's cache."""


@dataclass(frozen=True)
class Cargo:
    """Folders by their path in the cache, each with its files; `spec` is the target's new name.

    Files of folders are named by their path inside the folder.
    """

    folders: Mapping[str, Mapping[str, bytes]]
    spec: str | None = None

    def unload(self, target: Any) -> Any:
        """Write the folders that this machine's cache does not have; return the target's name."""
        for path, contents in self.folders.items():
            folder = cache_folder() / path
            if not folder.is_dir():
                _write_folder(folder, contents)
        return target if self.spec is None else str(cache_folder() / self.spec)


def cargo_of(spec: Any, target: Any) -> Cargo | None:
    """Load the files behind a target that was opened from a name; None if it has no files.

    These are models of the zoo, alone or in an ensemble, and a folder or a file of the user's.
    """
    folders = {str(path.relative_to(cache_folder())): path for path in _zoo_folders(target)}
    contents = {name: dict(_contents(path)) for name, path in folders.items()}
    if isinstance(spec, str) and Path(spec).exists():
        files = dict(_contents(Path(spec)))
        digest = hashlib.sha256()
        for name, content in sorted(files.items()):
            digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
        # The name stays the last part of the path: some targets are called by it.
        folder = f"{OTHERS}/{digest.hexdigest()[:16]}"
        is_file = Path(spec).is_file()
        own = folder if is_file else f"{folder}/{Path(spec).resolve().name}"
        return Cargo({own: files}, f"{folder}/{Path(spec).resolve().name}")
    if len(folders) == 1 and isinstance(spec, str) and spec.startswith("zoo:"):
        return Cargo(contents, next(iter(contents)))
    return Cargo(contents) if contents else None


def _zoo_folders(target: Any) -> Sequence[Path]:
    """Find the folders of the cache that a model, or the members of an ensemble, were read from."""
    members = (target, *getattr(target, "members", ()))
    cards = [member.card.fingerprint for member in members if hasattr(member, "card")]
    if not cards:
        return []
    return [model.path for model in trained_models() if model.card.fingerprint in cards]


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_file():
        yield path.name, path.read_bytes()
    for file in sorted(path.rglob("*")):
        if file.is_file():
            yield file.relative_to(path).as_posix(), file.read_bytes()


def _write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write a folder so that it appears whole; workers of one machine may do so at once."""
    partial = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    for name, content in contents.items():
        file = partial / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    try:
        partial.rename(folder)
    except OSError:
        # Another worker was first.
        shutil.rmtree(partial)
        if not folder.is_dir():
            raise
