"""Workers as actors of a Ray cluster; Ray ends them with their driver."""

from __future__ import annotations

import pickle
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from brittle.runs.workers.messages import Died, Report
from brittle.workflow.backends.cluster import connect

CALLS_AT_ONCE = 4
"""One call waits for the worker's next reports, the others bring it the driver's messages."""


class WorkerActors:
    """Worker actors; the setup is put into Ray's store once, which sends it once to every node."""

    def __init__(
        self, setup: bytes, workers: int, address: str | None, warn: Callable[[str], None]
    ) -> None:
        self._cluster = connect(address, cpus=workers)
        self._ray = self._cluster.ray
        if self._cluster.cpus() < workers:
            warn(
                f"The Ray cluster has {self._cluster.cpus()} processors for {workers} workers: "
                "those that find no place begin when there is one."
            )
        self._setup = self._ray.put(setup)
        options = {"num_cpus": 1, "max_concurrency": CALLS_AT_ONCE, "max_restarts": 0}
        self._make = self._ray.remote(WorkerActor).options(**options)
        self._actors: dict[int, Any] = {}
        self._reports: dict[Any, int] = {}

    def start(self, number: int) -> None:
        actor = self._make.remote()
        self._actors[number] = actor
        self._reports[actor.start.remote(self._setup)] = number

    def send(self, number: int, message: Any) -> None:
        if number in self._actors:
            self._actors[number].receive.remote(message)

    def wait(self, seconds: float) -> list[tuple[int, Report | Died]]:
        references = list(self._reports)
        self._ray.wait(references, timeout=seconds)
        ready, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        return [(number, report) for ref in ready for number, report in self._receive(ref)]

    def close(self) -> None:
        for actor in self._actors.values():
            with suppress(self._ray.exceptions.RayError):
                self._ray.kill(actor)
        self._cluster.close()

    def _receive(self, reference: Any) -> list[tuple[int, Report | Died]]:
        number = self._reports.pop(reference)
        try:
            reports: list[Report] = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            del self._actors[number]
            return [(number, Died(_how_it_ended(str(error))))]
        self._reports[self._actors[number].next.remote()] = number
        return [(number, report) for report in reports]


def _how_it_ended(message: str) -> str:
    """Find the line in which Ray says why an actor is gone."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    reasons = [line for line in lines if "because" in line or "memory" in line]
    return (reasons or lines or ["no reason is known"])[0][:300]


class WorkerActor:
    """A worker in a thread of an actor; the driver calls for its reports."""

    def __init__(self) -> None:
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[Report] = queue.SimpleQueue()

    def start(self, setup: bytes) -> list[Report]:
        """Begin to work; there is nothing to report yet."""
        from brittle.runs.workers.session import work
        from brittle.zoo.device import limit_cores

        limit_cores(1)
        arguments = (_QueueLink(self._inbox, self._outbox), lambda: pickle.loads(setup))
        threading.Thread(target=work, args=arguments, daemon=True).start()
        return []

    def receive(self, message: Any) -> None:
        """Take a message of the driver."""
        self._inbox.put(message)

    def next(self) -> list[Report]:
        """Wait for reports of the worker, and return all there are."""
        reports = [self._outbox.get()]
        with suppress(queue.Empty):
            while True:
                reports.append(self._outbox.get_nowait())
        return reports


class _QueueLink:
    """The worker's end of two queues."""

    def __init__(self, inbox: queue.SimpleQueue[Any], outbox: queue.SimpleQueue[Report]) -> None:
        self._inbox, self._outbox = inbox, outbox

    def send(self, report: Report) -> None:
        self._outbox.put(report)

    def receive(self) -> Any:
        return self._inbox.get()
