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
from brittle.zoo.folder import Card
from brittle.zoo.model_cache import models_folder, trained_models

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
    cards = [
        part.card for part in (target, *getattr(target, "members", ())) if hasattr(part, "card")
    ]
    models = _folders_of(cards)
    shared = [folder for card in cards for folder in _shared_folders(card)]
    contents = {_name_in_cache(path): dict(_contents(path)) for path in (*models, *shared)}
    if isinstance(spec, str) and Path(spec).exists():
        own, files = _own_name(Path(spec).resolve()), dict(_contents(Path(spec)))
        folder = str(Path(own).parent) if Path(spec).is_file() else own
        others = {_name_in_cache(path): dict(_contents(path)) for path in shared}
        return Cargo({folder: files, **others}, own)
    if len(models) == 1 and isinstance(spec, str) and spec.startswith("zoo:"):
        return Cargo(contents, _name_in_cache(models[0]))
    return Cargo(contents) if contents else None


def _folders_of(cards: Sequence[Card]) -> list[Path]:
    """Find the folders of the cache that models were read from."""
    wanted = {card.fingerprint for card in cards}
    known = trained_models() if wanted else []
    return [model.path for model in known if model.card.fingerprint in wanted]


def _shared_folders(card: Card) -> list[Path]:
    """Find the folders of the cache that parts of a model name: what several models share."""
    parts = [part for part in card.parts.values() if isinstance(part, Mapping)]
    folders = [models_folder() / str(part["folder"]) for part in parts if "folder" in part]
    return [folder for folder in folders if folder.is_dir()]


def _name_in_cache(path: Path) -> str:
    return path.relative_to(cache_folder()).as_posix()


def _own_name(path: Path) -> str:
    """Name a folder or file of the user's by its content, and last by its own name.

    Some targets are called by the last part of their path.
    """
    digest = hashlib.sha256()
    for name, content in _contents(path):
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return f"{OTHERS}/{digest.hexdigest()[:16]}/{path.name}"


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
