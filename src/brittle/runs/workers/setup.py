"""What a worker is given at its start, and the replica of the target that it opens."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from brittle.errors import UsageError, message_of
from brittle.opening import as_target
from brittle.runs.job import Job
from brittle.runs.options import Limits
from brittle.runs.workers.carrying import ModelFiles
from brittle.targets.capabilities import helpers_for
from brittle.targets.options import Target
from brittle.targets.protocols import declared_by


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
            f"The {wrong} is a live object that cannot be sent to workers ({message_of(error)}). "
            "Put it into a module and name it, python:module:name, or use one process (workers=1)."
        ) from error


def _can_pickle(part: Any) -> bool:
    try:
        pickle.dumps(part)
    except Exception:
        return False
    return True
