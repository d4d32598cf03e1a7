"""The choice of where tasks run, and what every such place offers: workers, of one signature.

How many workers there are and where, and what every such place offers to tasks. A variable of the
environment, set while processes are started.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

from brittle.errors import UsageError, unknown
from brittle.values import Flag
from brittle.workflow.tasks import Task

BACKENDS = ("local", "ray")


@dataclass(frozen=True)
class Workers:
    """The number of workers, and where they run: local processes or a Ray cluster.

    One local worker is this process. Without a count, Ray runs as many tasks at a time as the
    cluster has processors. Without an address, brittle starts a local cluster.
    """

    count: Annotated[
        int | None,
        Flag(
            "run N tasks at the same time (default: one per core)",
            name="workers",
            metavar="N",
            is_positive=True,
        ),
    ] = 1
    backend: Annotated[
        str,
        Flag("run on this machine or on a Ray cluster (default: local)", choices=BACKENDS),
    ] = "local"
    address: Annotated[
        str | None,
        Flag(
            "with --backend ray: the address of the cluster, or auto (default: start one here)",
            metavar="HOST:PORT",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise unknown("backend", self.backend, BACKENDS)
        if self.count is not None and self.count < 1:
            raise UsageError(f"Got {self.count} workers; expected 1 or more.")
        if self.address is not None and self.backend != "ray":
            raise UsageError(
                f"--address {self.address!r} is the address of a Ray cluster, but the backend is "
                f"{self.backend!r}. Add --backend ray, or leave --address out."
            )

    @property
    def is_local(self) -> bool:
        return self.backend == "local"


@dataclass(frozen=True)
class Assignment:
    """A task with what it needs: the folder of the workflow, results by name, and `files`.

    The files and folders lie in the workflow's folder or in the cache.
    """

    task: Task
    folder: Path
    needs: Mapping[str, Any]
    files: Sequence[Path] = ()


@dataclass(frozen=True)
class Ended:
    """The end of an assignment: a result, which is stored, or the reason why its worker died."""

    assignment: Assignment
    result: Any = None
    death: str | None = None


Tell = Callable[[Task, str], None]
"""Receives the messages of tasks while they run."""


class TaskWorkers(Protocol):
    """Runs tasks. An error of a task is raised by `wait`, with the name of the task."""

    def capacity(self) -> int:
        """Return how many tasks can run at a time."""

    def start(self, assignment: Assignment) -> None:
        """Start a task; there are fewer under way than the capacity."""

    def wait(self) -> Sequence[Ended]:
        """Wait until at least one task has ended, and pass on messages meanwhile."""

    def close(self) -> None:
        """End all workers, whatever they do."""


def open_workers(workers: Workers, tell: Tell) -> TaskWorkers:
    """Open what runs tasks; the tasks' messages go to `tell`."""
    if not workers.is_local:
        from brittle.workflow.backends.ray_workers import RayWorkers

        return RayWorkers.connect(workers, tell)
    from brittle.workflow.backends.local import LocalWorkers, ThisProcess

    count = workers.count or 1
    return LocalWorkers(count, tell) if count > 1 else ThisProcess(tell)


THREADS = "OMP_NUM_THREADS"


@contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """Set a variable for processes that are started meanwhile: some libraries read it at import."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
