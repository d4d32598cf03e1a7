"""Where workers live: processes of this machine, or actors of a Ray cluster.

Workers as processes of this machine; they end with their driver.

Workers as actors of a Ray cluster; Ray ends them with their driver.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from brittle.runs.workers.messages import Died, Report
from brittle.workflow.backends.backend import THREADS, environment
from brittle.workflow.backends.cluster import connect

SECONDS_TO_END = 5.0


class WorkerProcesses:
    """Worker processes, each behind a pipe; the setup for all of them is one file."""

    def __init__(self, setup: bytes, threads: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="brittle-")
        self._setup = Path(self._folder.name) / "setup"
        self._setup.write_bytes(setup)
        self._threads = threads
        self._processes: dict[int, SpawnProcess] = {}
        self._pipes: dict[int, Connection] = {}

    def start(self, number: int) -> None:
        context = multiprocessing.get_context("spawn")
        own, other = context.Pipe()
        arguments = (other, str(self._setup), self._threads)
        process = context.Process(target=_main, args=arguments, daemon=True)
        with environment(THREADS, str(self._threads)):
            process.start()
        other.close()
        self._processes[number], self._pipes[number] = process, own

    def send(self, number: int, message: Any) -> None:
        if number in self._pipes:
            with suppress(OSError):
                self._pipes[number].send(message)

    def wait(self, seconds: float) -> list[tuple[int, Report | Died]]:
        numbers = {pipe: number for number, pipe in self._pipes.items()}
        ready: list[Any] = wait(list(numbers), seconds)
        return [(numbers[pipe], self._receive(numbers[pipe])) for pipe in ready]

    def close(self) -> None:
        for pipe in self._pipes.values():
            pipe.close()
        for process in self._processes.values():
            process.join(SECONDS_TO_END)
            process.kill()
            process.join()
        self._folder.cleanup()

    def _receive(self, number: int) -> Report | Died:
        try:
            report: Report = self._pipes[number].recv()
            return report
        except (EOFError, OSError):
            self._pipes.pop(number).close()
            process = self._processes[number]
            process.join()
            return Died(_how_it_ended(process.exitcode or 0))


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name
    return f"killed by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")


class _PipeLink:
    """The worker's end of a pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def send(self, report: Report) -> None:
        try:
            self._pipe.send(report)
        except OSError:
            os._exit(1)

    def receive(self) -> Any:
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            # The driver is gone, and with it the reason to compute anything.
            os._exit(1)


def _main(pipe: Connection, setup: str, threads: int) -> None:
    # Ctrl-C reaches the driver, which stops its workers after their round.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from brittle.runs.workers.session import work
    from brittle.zoo.device import limit_cores

    limit_cores(threads)
    work(_PipeLink(pipe), lambda: pickle.loads(Path(setup).read_bytes()))
    # A call that hangs must not keep the process alive.
    os._exit(0)


CALLS_AT_ONCE = 4
"""One call waits for the worker's next reports, the others deliver the driver's messages."""


class WorkerActors:
    """Worker actors; the setup is put into Ray's store once, which sends it once to every node."""

    def __init__(
        self, setup: bytes, workers: int, address: str | None, warn: Callable[[str], None]
    ) -> None:
        self._cluster = connect(address, cpus=workers)
        self._ray = self._cluster.ray
        if self._cluster.cpus() < workers:
            warn(
                f"The Ray cluster has {self._cluster.cpus()} processors for {workers} "
                "workers. The others start when a processor is free."
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
            return [(number, Died(_actors_how_it_ended(str(error))))]
        self._reports[self._actors[number].next.remote()] = number
        return [(number, report) for report in reports]


def _actors_how_it_ended(message: str) -> str:
    """Find the line in which Ray says why an actor is gone."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    reasons = [line for line in lines if "because" in line or "memory" in line]
    return (reasons or lines or ["the reason is unknown"])[0][:300]


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
