"""Workers as threads of the test's own process: the same driver and sessions, with no wait."""

from __future__ import annotations

import pickle
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.data.dataset import Dataset
from brittle.data.example import as_examples, case_ids
from brittle.engine.broker import Broker
from brittle.errors import BrittleError
from brittle.results import Result, Step
from brittle.runs.job import Job
from brittle.runs.options import Limits
from brittle.runs.rows import rows_of
from brittle.runs.runner import build_engine
from brittle.runs.workers.driver import Dealing, Driver
from brittle.runs.workers.messages import Died, Report
from brittle.runs.workers.session import work
from brittle.runs.workers.setup import packed
from brittle.runs.workers.starting import Workforce, make_setup
from brittle.targets.options import Target
from brittle.workflow.backends import Workers


class Death(BaseException):
    """Ends a worker without a word, as a kill does."""


class WorkerThreads:
    """Workers that are threads; one that raises `Death` is gone."""

    def __init__(self, setup: bytes) -> None:
        self._setup = setup
        self._reports: queue.SimpleQueue[tuple[int, Report | Died]] = queue.SimpleQueue()
        self._inboxes: dict[int, queue.SimpleQueue[Any]] = {}
        self.started: list[int] = []

    def start(self, number: int) -> None:
        self.started.append(number)
        self._inboxes[number] = queue.SimpleQueue()
        link = _Link(number, self._inboxes[number], self._reports)
        threading.Thread(target=self._work, args=(number, link), daemon=True).start()

    def _work(self, number: int, link: _Link) -> None:
        try:
            work(link, lambda: pickle.loads(self._setup))
        except Death:
            self._reports.put((number, Died("killed in a test")))
        self._inboxes[number].put(None)

    def send(self, number: int, message: Any) -> None:
        # What is sent must be of the kind that another process can receive.
        self._inboxes[number].put(pickle.loads(pickle.dumps(message)))

    def wait(self, seconds: float) -> list[tuple[int, Report | Died]]:
        try:
            return [self._reports.get(timeout=seconds)]
        except queue.Empty:
            return []

    def close(self) -> None:
        return


class _Link:
    def __init__(self, number: int, inbox: Any, reports: Any) -> None:
        self._number, self._inbox, self._reports = number, inbox, reports

    def send(self, report: Report) -> None:
        self._reports.put((self._number, pickle.loads(pickle.dumps(report))))

    def receive(self) -> Any:
        return self._inbox.get()


@dataclass
class Attacked:
    """What came of an attack, whether it ended or was stopped."""

    broker: Broker
    results: list[Result] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    error: BrittleError | None = None
    driver: Driver | None = None

    @property
    def rows(self) -> dict[str, Result]:
        """The results by case; a case that ended twice is an error."""
        rows = {row.case: row for row in self.results}
        assert len(rows) == len(self.results)
        return rows


def limits_of(broker: Broker, budget: int | None = None) -> Limits:
    """Return the limits of a run that a broker keeps."""
    return Limits(
        budget=budget, max_sent=broker.most_sent, batch=broker.batch, watchdog=broker.watchdog
    )


def attack(
    target: Any,
    examples: Sequence[Any],
    name: str = "pwws",
    *,
    workers: int = 0,
    replica: Any = None,
    budget: int | None = None,
    stop_after: int | None = None,
    group: type[WorkerThreads] = WorkerThreads,
    **limits: Any,
) -> Attacked:
    """Attack examples in the test's thread or, with `workers`, in threads of their own.

    `replica` is what workers open in place of the target.
    """
    rows = tuple(as_examples(examples))
    labels = tuple(sorted({row.label for row in rows if row.label is not None}))
    dataset = Dataset("examples", "all", rows, labels)
    job = Job.of(target, dataset, name, {"candidates": "paper"})
    broker = Broker(job.desks, stopping=threading.Event(), **limits)
    attacked = Attacked(broker)
    cases = job.cases(dataset, case_ids(rows), set())
    try:
        if workers:
            origin = Target(replica or target)
            workforce = Workforce(Workers(workers), origin, limits_of(broker, budget))
            setup = packed(make_setup(workforce, job, workers))
            dealing = Dealing(cases, len(rows), workers)
            warn = attacked.warnings.append
            attacked.driver = Driver(group(setup), dealing, broker, job, workers, warn)
            attacked.driver.start()
            finished = attacked.driver.rows()
        else:
            engine = build_engine(job, broker, budget)
            finished = (rows_of(ended, job, broker.answer) for ended in engine.run(cases))
        for results, steps in finished:
            attacked.results += results
            attacked.steps += steps
            if stop_after is not None and len(attacked.results) >= stop_after:
                broker.stopping.set()
    except BrittleError as error:
        attacked.error = error
    finally:
        broker.close()
    return attacked
