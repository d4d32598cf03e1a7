"""The choice of where tasks run, and what every such place offers: workers, of one signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from brittle.errors import UsageError, unknown
from brittle.workflow.tasks import Task

BACKENDS = ("local", "ray")


@dataclass(frozen=True)
class Backend:
    """Where tasks run: `local` processes, or the `ray` cluster at an address.

    One local worker is this process itself. Without a number of workers, Ray runs as many tasks at
    a time as the cluster has processors. Without an address, a local cluster is started.
    """

    name: str = "local"
    workers: int | None = 1
    address: str | None = None

    def __post_init__(self) -> None:
        if self.name not in BACKENDS:
            raise unknown("backend", self.name, BACKENDS)
        if self.address is not None and self.name != "ray":
            raise UsageError(
                f"--address {self.address!r} is the address of a Ray cluster, but the backend is "
                f"{self.name!r}. Add --backend ray, or leave --address out."
            )


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


class Workers(Protocol):
    """Those who run tasks. An error of a task is raised by `wait`, with the name of the task."""

    def capacity(self) -> int:
        """Return how many tasks can run at a time."""

    def start(self, assignment: Assignment) -> None:
        """Start a task; there are fewer under way than the capacity."""

    def wait(self) -> Sequence[Ended]:
        """Wait until at least one task has ended, and pass on messages meanwhile."""

    def close(self) -> None:
        """End all workers, whatever they do."""


def open_workers(backend: Backend, tell: Tell) -> Workers:
    """Return the workers of a backend; their tasks' messages go to `tell`."""
    if backend.name == "ray":
        from brittle.workflow.backends.ray_workers import RayWorkers

        return RayWorkers.connect(backend, tell)
    from brittle.workflow.backends.local import LocalWorkers, ThisProcess

    workers = backend.workers or 1
    return LocalWorkers(workers, tell) if workers > 1 else ThisProcess(tell)
