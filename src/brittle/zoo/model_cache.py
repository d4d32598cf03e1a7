"""The cache of trained models.

A folder is named NAME@DATA#SEED and 12 hex digits of a key over everything that decides the
weights: nothing is trained twice, and changed data or settings give another model.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle import files
from brittle.errors import UsageError
from brittle.files import cache_folder
from brittle.zoo import folder as folders
from brittle.zoo.folder import Card

PARTIAL_SUFFIX, LOCK_SUFFIX, DIVERGED_SUFFIX = ".partial", ".lock", ".kept"


@dataclass(frozen=True)
class TrainedModel:
    """One trained model in the cache; `size` is in bytes."""

    card: Card
    size: int
    parameters: int
    path: Path

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def data(self) -> str:
        return self.card.data

    @property
    def seed(self) -> int:
        return self.card.seed

    @property
    def dev_accuracy(self) -> float | None:
        return self.card.dev_accuracy

    @property
    def spec(self) -> str:
        return f"zoo:{self.card.full_name}"


def models_folder() -> Path:
    return cache_folder() / "models"


def content_key(**parts: Any) -> str:
    """Hash everything that decides a model's weights."""
    parts["format"] = folders.FORMAT
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def model_folder(name: str, data: str, seed: int, key: str) -> Path:
    """Return the folder of one model, whether it exists or not."""
    model = re.sub(r"[^\w.,=+-]+", "_", name)[:120]
    plain = re.sub(r"[^\w.+-]+", "_", data)[-60:]
    return models_folder() / f"{model}@{plain}#{seed}-{key[:12]}"


def trained_models() -> list[TrainedModel]:
    """List the trained models in the cache; folders that cannot be read are left out."""
    models = []
    folder = models_folder()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix in (PARTIAL_SUFFIX, LOCK_SUFFIX, DIVERGED_SUFFIX) or not path.is_dir():
            continue
        try:
            card = folders.load_card(path)
            parameters = folders.count_parameters(path / folders.WEIGHTS_FILE)
        except (UsageError, OSError):
            continue
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        models.append(TrainedModel(card, size, parameters, path))
    return models


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a model; wait while another process trains it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with files.open_lock(Path(f"{folder}{LOCK_SUFFIX}")) as file:
        files.lock(file, wait=True)
        yield  # closing the file, or the end of the process, releases the lock
