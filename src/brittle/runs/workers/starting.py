"""How many workers a run has, where they live, and questions that one answers for the driver.

Questions of the driver's that a worker answers, for a text may end the process that asks. The
diagnosis and the drawing of keywords ask about originals before the first case is attacked. How
many workers a run has and where they live; from there to a driver.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from brittle.asks import Case
from brittle.engine.broker import Broker
from brittle.engine.desks import Failures, compute_by_halves
from brittle.runs.job import Job
from brittle.runs.options import Limits
from brittle.runs.workers.driver import Dealing, Driver
from brittle.runs.workers.messages import WorkerGroup
from brittle.runs.workers.setup import (
    WorkerSetup,
    is_asked_by_driver,
    model_files_of,
    packed,
    questions_of_target,
    stripped,
)
from brittle.targets.options import Target
from brittle.workflow.backends import Workers
from brittle.zoo.device import cores


@dataclass(frozen=True)
class WorkerAsker:
    """Answers as a broker does, by a worker of a driver that does not deal cases yet.

    If the worker dies, another one is asked about each half, until what it died of is alone.
    """

    driver: Driver

    @property
    def most_sent(self) -> int | None:
        return self.driver.broker.most_sent

    @property
    def left(self) -> int | None:
        return self.driver.broker.left

    def answer(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]:
        return self._ask(question, items, alone=False)

    def alone(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]:
        return self._ask(question, items, alone=True)

    def _ask(self, question: str, items: Sequence[Any], alone: bool) -> tuple[list[Any], Failures]:
        def compute(part: Sequence[Any]) -> list[tuple[Any, Exception | None]]:
            payloads, failures = self.driver.ask(question, part, alone)
            return [(payload, failures.get(n)) for n, payload in enumerate(payloads)]

        answers, deaths = compute_by_halves(compute, items)
        pairs = [(None, deaths[n]) if n in deaths else pair for n, pair in enumerate(answers)]
        failures = {n: failure for n, (_, failure) in enumerate(pairs) if failure is not None}
        return [payload for payload, _ in pairs], failures


@dataclass(frozen=True)
class Workforce:
    """The workers of a run: how many and where, the target that each opens, and their limits.

    With `is_apart` one worker is a process of its own, too.
    """

    workers: Workers
    origin: Target
    limits: Limits
    is_apart: bool = False

    @property
    def count(self) -> int:
        return self.workers.count or 1

    @property
    def is_one_process(self) -> bool:
        """Tell whether the run needs no workers: this process does everything."""
        return self.count == 1 and self.workers.is_local and not self.is_apart

    @property
    def threads(self) -> int:
        """The cores that each worker may use; a worker on a cluster has one."""
        return max(1, cores() // self.count) if self.workers.is_local else 1

    def apart(self, job: Job) -> Workforce:
        """Return a worker process in place of this process, if the target can be asked there."""
        is_possible = not is_asked_by_driver(job.target) and self.origin.is_named
        return replace(self, is_apart=is_possible and _can_start_processes())


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
    warn: Callable[[str], None],
) -> Driver:
    """Start the workers of a run, no more of them than there are cases, and return the driver."""
    workers = min(workforce.count, count)
    setup = packed(make_setup(workforce, job, workers))
    group = _open_group(workforce, workers, setup, warn)
    driver = Driver(group, Dealing(cases, count, workers), broker, job, workers, warn)
    try:
        driver.start()
    except BaseException:
        group.close()
        raise
    return driver


def make_setup(workforce: Workforce, job: Job, workers: int) -> WorkerSetup:
    """Build what every worker is given; where no folder is shared, with the files of the model."""
    forwarded: frozenset[str] = frozenset()
    replica: Target | None = workforce.origin
    model_files = None
    if is_asked_by_driver(job.target):
        forwarded, replica = questions_of_target(job, job.all_helpers), None
    elif not workforce.workers.is_local:
        model_files = model_files_of(workforce.origin.model, job.target)
    return WorkerSetup(stripped(job), replica, model_files, forwarded, workers, workforce.limits)


def _open_group(
    workforce: Workforce, workers: int, setup: bytes, warn: Callable[[str], None]
) -> WorkerGroup:
    if workforce.workers.is_local:
        from brittle.runs.workers.places import WorkerProcesses

        return WorkerProcesses(setup, workforce.threads)
    from brittle.runs.workers.places import WorkerActors

    return WorkerActors(setup, workers, workforce.workers.address, warn)
