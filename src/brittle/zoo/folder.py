"""A trained model on disk, and the cache of trained models.

A trained model on disk: `model.safetensors`, `model.json`, `README.md` and its vocabulary. The
cache of trained models.

A folder is named NAME@DATA#SEED and 12 hex digits of a key over everything that decides the
weights: nothing is trained twice, and changed data or settings give another model.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.errors import MissingPackage, UsageError, require
from brittle.safety import files
from brittle.safety.files import cache_folder, check_is_file
from brittle.safety.schema import FileName, reader
from brittle.zoo.names import changes

FORMAT = 1
CARD_FILE, WEIGHTS_FILE, README_FILE = "model.json", "model.safetensors", "README.md"
VOCABULARY_FILE, ALPHABET_FILE = "vocabulary.txt", "alphabet.txt"
MAX_HEADER_BYTES = 100_000_000  # the limit of safetensors itself
Tensors = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Card:
    """The content of `model.json`; `files` holds the SHA-256 of each file beside it.

    `hardening` is the method of adversarial training, which the name tells too; `changed` are the
    settings that differ from those of the model at its size. `gradients` tells how well a network's
    gradients rank edits (gradient_check.py); models trained before it was measured have none. A
    language model has `perplexity` on the dev split, a translator `dev_bleu`, and no accuracy; a
    generator has `measures`.
    """

    name: str
    kind: str
    data: str
    seed: int
    size: str
    labels: tuple[str, ...]
    fields: tuple[str, ...]
    parts: Mapping[str, Any]
    settings: Mapping[str, Any]
    dev_accuracy: float | None
    epochs: int
    examples: int
    data_fingerprint: str
    key: str
    seconds: float
    versions: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    hardening: Mapping[str, Any] = field(default_factory=dict)
    changed: Mapping[str, Any] = field(default_factory=dict)
    gradients: Mapping[str, Any] = field(default_factory=dict)
    perplexity: Mapping[str, float] = field(default_factory=dict)
    dev_bleu: float | None = None
    measures: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def full_name(self) -> str:
        return full_name(self.name, self.data, self.seed, self.size, self.changed)

    @property
    def fingerprint(self) -> str:
        """Hash what decides the model's answers: weights and settings, not the time of training."""
        settings = changes.with_former_names(self.settings)
        parts = (self.kind, self.parts, settings, self.labels, self.fields, self.files)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def full_name(name: str, data: str, seed: int, size: str, changed: Mapping[str, Any]) -> str:
    """Format the full name of a model: its name, data and seed, and what is not the default.

    >>> full_name("LSTM-W-Random-1", "mr", 0, "default", {})
    'LSTM-W-Random-1@mr#0'
    >>> full_name("LSTM-W-Random-1", "mr", 0, "paper", {"hidden": 64})
    'LSTM-W-Random-1@mr#0?size=paper,hidden=64'
    """
    sizes = {} if size in ("", "default") else {"size": size}
    settings = changes.format_settings({**sizes, **changed})
    return f"{name}@{data}#{seed}" + (f"?{settings}" if settings else "")


def write_card(folder: Path, card: Card, readme: str) -> Card:
    """Write the card and the README beside the weights; `files` is filled in here."""
    names = [
        p.name for p in folder.iterdir() if p.is_file() and p.name not in (CARD_FILE, README_FILE)
    ]
    hashes = {name: files.digest(folder / name) for name in sorted(names)}
    content = asdict(card) | {"files": hashes}
    (folder / CARD_FILE).write_text(
        json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )
    (folder / README_FILE).write_text(readme, "utf-8")
    return _card(content)


def write_tensors(path: Path, tensors: Tensors, metadata: Mapping[str, str] | None = None) -> None:
    """Write named arrays as safetensors."""
    safetensors = require("safetensors.numpy", "torch", "Keeping a model's weights")
    arrays = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    safetensors.save_file(arrays, str(path), metadata=dict(metadata or {}))


def load_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Load named arrays from a safetensors file; any other file is a `UsageError`."""
    safetensors = require("safetensors.numpy", "torch", "Reading a model's weights")
    check_is_file(path)
    try:
        loaded: dict[str, NDArray[Any]] = safetensors.load_file(str(path))
    except Exception as error:  # safetensors has no public error of its own
        raise UsageError(
            f"{path} is not a weights file in safetensors format ({error}). Train the "
            "model again with --new, or restore the file."
        ) from error
    return loaded


def count_parameters(path: Path) -> int:
    """Count the numbers in a safetensors file by its header alone."""
    check_is_file(path)
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(min(size, MAX_HEADER_BYTES)))
        shapes = [tensor["shape"] for name, tensor in header.items() if name != "__metadata__"]
        return sum(math.prod(map(int, shape)) for shape in shapes)
    except files.DAMAGED as error:
        raise UsageError(
            f"{path} is not a weights file in safetensors format: its header cannot be "
            f"read ({error}). Train the model again with --new, or restore the file."
        ) from error


@contextmanager
def fitting_weights(folder: Path, what: str) -> Iterator[None]:
    """Have whatever is raised while a network is restored name the folder, and the remedy."""
    try:
        yield
    except MissingPackage:
        raise
    except (UsageError, RuntimeError, MemoryError, *files.DAMAGED) as error:
        raise UsageError(
            f"The weights in {folder} do not fit {what}: {error}. Train it again with --new."
        ) from error


def write_words(path: Path, words: Sequence[str]) -> None:
    """Write a vocabulary, one word per line."""
    path.write_text("".join(f"{word}\n" for word in words), "utf-8")


def load_words(path: Path) -> list[str]:
    """Load a vocabulary; only line feeds separate the words."""
    check_is_file(path)
    try:
        return path.read_text("utf-8").split("\n")[:-1]
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be read as a list of words ({error}). Train the model again "
            "with --new, or restore the file."
        ) from error


def load_card_checked(folder: Path) -> Card:
    """Load a model's card and check the SHA-256 of the files beside it."""
    card = load_card(folder)
    for name, expected in card.files.items():
        path = folder / name
        if not path.is_file():
            raise UsageError(f"{folder} is incomplete: {name} is missing. Train the model again.")
        if files.digest(path) != expected:
            raise UsageError(
                f"{path} is damaged or belongs to another model: its SHA-256 differs from "
                f"the one in {CARD_FILE}. Train the model again with --new, or restore "
                "the file."
            )
    return card


def load_card(folder: Path) -> Card:
    """Load a model's card; check no files."""
    path = folder / CARD_FILE
    if not path.is_file():
        raise UsageError(
            f"{folder} has no {CARD_FILE}, so it is not a model of the zoo. Use a folder "
            "written by brittle train, or a transformers folder."
        )
    try:
        return _card(json.loads(path.read_text("utf-8")))
    except files.DAMAGED as error:
        raise UsageError(
            f"{path} is not a model card of the zoo ({error}). Train the model again."
        ) from error


def _card(content: dict[str, Any]) -> Card:
    if content.get("format") != FORMAT:
        raise UsageError(
            f"This model has format {content.get('format')!r}; this version of brittle reads "
            f"format {FORMAT}. Train the model again."
        )
    known = {f.name for f in fields(Card)}
    values = {key: value for key, value in content.items() if key in known}
    values |= {"labels": tuple(content["labels"]), "fields": tuple(content["fields"])}
    for name in ("settings", "changed"):
        values[name] = changes.with_present_names(content.get(name, {}))
    values["files"] = reader(Mapping[FileName, str])(content.get("files", {}))
    return Card(**values)


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
    parts["format"] = FORMAT
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
            card = load_card(path)
            parameters = count_parameters(path / WEIGHTS_FILE)
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
