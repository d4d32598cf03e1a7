"""Workers as processes of this machine; they end with their driver."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import tempfile
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from brittle.runs.workers.messages import Died, Report
from brittle.workflow.backends.environment import THREADS, environment

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
