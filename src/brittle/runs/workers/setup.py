"""What a worker is given at its start: files of the model, settings, and its target.

The files of a model, sent to machines that do not have them: weights travel by content. What a
worker is given at its start, and the replica of the target that it opens.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, message_of
from brittle.opening import as_target
from brittle.runs.job import Job
from brittle.runs.options import Limits
from brittle.safety.files import cache_folder, is_path
from brittle.targets.capabilities import helpers_for
from brittle.targets.options import Target
from brittle.targets.protocols import declared_by
from brittle.workflow.artifacts import Parcel, Places, content_digest, unwrap, wrap
from brittle.zoo.bilm import needed_folders
from brittle.zoo.folder import Card, trained_models

OTHERS = "carried"
"""The cache folder for the user's models."""


@dataclass(frozen=True)
class ModelFiles:
    """Files as parcels, with their contents; `spec` is the parcel that the target is opened from.

    `own` is the folder of the cache into which a model of the user's is put.
    """

    parcels: Sequence[Parcel]
    contents: bytes
    own: str
    spec: str | None = None

    def write(self, target: Any) -> Any:
        """Write what this machine's cache does not have; return the target's name here."""
        places = Places(cache_folder() / OTHERS / self.own, cache_folder())
        unwrap(self.parcels, self.contents, places)
        return target if self.spec is None else str(places.path(self.spec))


def model_files_of(spec: Any, target: Any) -> ModelFiles | None:
    """Load the files behind a target that was opened from a name; None if it has no files.

    These are models of the zoo, alone or in an ensemble, and a folder or a file of the user's.
    """
    parts = (target, *(declared_by(target, "members") or ()))
    models = _folders_of([part.card for part in parts if hasattr(part, "card")])
    paths = [folder for model in models for folder in needed_folders(model)]
    own = Path(spec).resolve() if isinstance(spec, str) and is_path(spec) else None
    if own is not None:
        paths = [own, *(path for path in paths if path not in models)]
    if not paths:
        return None
    # Some targets are called by the last part of their path: a model of the user's keeps it.
    places = Places(cache_folder() / OTHERS if own is None else own.parent, cache_folder())
    parcels, contents = wrap(dict.fromkeys(paths), places)
    is_one = own is not None or (len(models) == 1 and str(spec).startswith("zoo:"))
    digest = "" if own is None else content_digest(own)[:16]
    return ModelFiles(parcels, contents, digest, parcels[0].name if is_one else None)


def _folders_of(cards: Sequence[Card]) -> list[Path]:
    """Find the folders of the cache that models were read from.

    Models of other seeds may have the same weights, such as naive Bayes: the name decides.
    """
    wanted = {(card.full_name, card.fingerprint) for card in cards}
    known = trained_models() if wanted else []
    own = [(model.path, (model.card.full_name, model.card.fingerprint)) for model in known]
    return [path for path, key in own if key in wanted]


@dataclass(frozen=True)
class TargetName:
    """What rows say of a target."""

    name: str
    fingerprint: str


@dataclass(frozen=True)
class WorkerSetup:
    """What a worker needs. `job` has neither target, data nor desks: they are the worker's own.

    `forwarded` are the questions that the driver answers; a worker that has none of its own to
    ask has no `origin`.
    """

    job: Job
    origin: Target | None
    model_files: ModelFiles | None
    forwarded: frozenset[str]
    workers: int
    limits: Limits

    def open(self) -> Any:
        """Open the worker's replica of the target; None if the driver asks the target."""
        if self.origin is None:
            return None
        target = self.origin
        if self.model_files is not None:
            target = replace(target, model=self.model_files.write(target.model))
        return as_target(target)


def stripped(job: Job) -> Job:
    """Return the job without what is large or cannot be sent."""
    data = replace(job.dataset, examples=(), warnings=())
    name = TargetName(job.target.name, job.target.fingerprint)
    return replace(job, target=name, dataset=data, desks={}, helpers={}, keywords={})


def questions_of_target(job: Job, helpers: tuple[Any, ...]) -> frozenset[str]:
    """Return the questions that the target itself answers."""
    return frozenset(job.desks.keys() - helpers_for(job.target, helpers).keys())


def is_asked_by_driver(target: Any) -> bool:
    """Tell whether only one process may ask a target: it is paid for, or is no part of a process.

    Its limits, its journal and its one program could not be shared otherwise.
    """
    return bool(declared_by(target, "costly")) or not declared_by(target, "in_process")


def packed(setup: WorkerSetup) -> bytes:
    """Pickle a setup; name the part that cannot be sent to another process."""
    parts: dict[str, Callable[[], Any]] = {
        f"attack {setup.job.attack_name!r}": lambda: setup.job.attack,
        f"goal {setup.job.goal_name!r}": lambda: setup.job.goal,
        f"target {setup.job.target.name!r}": lambda: setup.origin,
    }
    try:
        return pickle.dumps(setup)
    except Exception as error:
        wrong = next((name for name, part in parts.items() if not _can_pickle(part())), "job")
        raise UsageError(
            f"The {wrong} is a live object that cannot be sent to workers "
            f"({message_of(error)}). Put it into a module and use python:module:name, or "
            "use one process (workers=1)."
        ) from error


def _can_pickle(part: Any) -> bool:
    try:
        pickle.dumps(part)
    except Exception:
        return False
    return True
