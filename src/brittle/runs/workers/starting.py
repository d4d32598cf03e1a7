"""How many workers a run has and where they live; from there to a driver."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from brittle.asks import Case
from brittle.engine.broker import Broker
from brittle.errors import UsageError
from brittle.runs.job import Job
from brittle.runs.workers.carrying import model_files_of
from brittle.runs.workers.dealing import Dealing
from brittle.runs.workers.driver import Driver
from brittle.runs.workers.group import WorkerGroup
from brittle.runs.workers.setup import (
    WorkerSetup,
    is_asked_by_driver,
    packed,
    questions_of_target,
    stripped,
)
from brittle.targets.options import Target
from brittle.workflow.backends import Backend
from brittle.zoo.device import cores


@dataclass(frozen=True)
class WorkerSettings:
    """How many workers attack cases, and where: processes of this machine, or a Ray cluster."""

    workers: int = 1
    backend: str = "local"
    address: str | None = None
    apart: bool = False
    """One worker is a process of its own, too."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise UsageError(f"Got {self.workers} workers; expected 1 or more.")
        Backend(self.backend, self.workers, self.address)  # refuses what does not fit

    @property
    def is_one_process(self) -> bool:
        """Tell whether the run needs no workers: this process does everything."""
        return self.workers == 1 and self.backend == "local" and not self.apart

    @property
    def threads(self) -> int:
        """The cores that each worker may use; a worker on a cluster has one."""
        return max(1, cores() // self.workers) if self.backend == "local" else 1


@dataclass(frozen=True)
class Workforce:
    """The workers of a run, and where the target comes from that each of them opens."""

    settings: WorkerSettings
    origin: Target

    def apart(self, job: Job) -> Workforce:
        """Return a worker process in place of this process, if the target can be asked there."""
        is_possible = not is_asked_by_driver(job.target) and self.origin.is_named
        settings = replace(self.settings, apart=is_possible and _can_start_processes())
        return replace(self, settings=settings)


def _can_start_processes() -> bool:
    """Tell whether a process can be started that does not run the user's script from its start.

    A process imports the main module. That of brittle's command line is prepared for it, and so is
    every `python -m PACKAGE`; an interpreter without a script has none. A worker of a workflow may
    start none.
    """
    if multiprocessing.current_process().daemon:
        return False
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    return script is None or Path(script).stem in ("brittle", "__main__")


def start_driver(
    workforce: Workforce,
    job: Job,
    broker: Broker,
    cases: Iterator[Case[Any]],
    count: int,
    budget: int | None,
    warn: Callable[[str], None],
) -> Driver:
    """Start the workers of a run, no more of them than there are cases, and return the driver."""
    workers = min(workforce.settings.workers, count)
    setup = packed(make_setup(workforce, job, broker, workers, budget))
    group = _open_group(workforce.settings, workers, setup, warn)
    driver = Driver(group, Dealing(cases, count, workers), broker, job, workers, warn)
    try:
        driver.start()
    except BaseException:
        group.close()
        raise
    return driver


def make_setup(
    workforce: Workforce, job: Job, broker: Broker, workers: int, budget: int | None
) -> WorkerSetup:
    """Build what every worker is given; where no folder is shared, with the files of the model."""
    forwarded: frozenset[str] = frozenset()
    replica: Target | None = workforce.origin
    model_files = None
    if is_asked_by_driver(job.target):
        forwarded, replica = questions_of_target(job, job.all_helpers), None
    elif workforce.settings.backend == "ray":
        model_files = model_files_of(workforce.origin.model, job.target)
    limits = (broker.batch, broker.watchdog, broker.most_sent)
    return WorkerSetup(stripped(job), replica, model_files, forwarded, workers, budget, *limits)


def _open_group(
    settings: WorkerSettings, workers: int, setup: bytes, warn: Callable[[str], None]
) -> WorkerGroup:
    if settings.backend == "local":
        from brittle.runs.workers.local import WorkerProcesses

        return WorkerProcesses(setup, settings.threads)
    from brittle.runs.workers.actors import WorkerActors

    return WorkerActors(setup, workers, settings.address, warn)
