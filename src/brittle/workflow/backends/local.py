"""Workers on this machine: this process itself, or processes that end with their parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from brittle.errors import BrittleError, RunStopped
from brittle.workflow.backends.backend import THREADS, Assignment, Ended, Tell, environment
from brittle.workflow.tasks import Task, run_task, store_result

OUT_OF_MEMORY = "was killed; systems do this when memory runs out"


class ThisProcess:
    """One worker: this process. A task is run while it is waited for."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._assigned: Assignment | None = None

    def capacity(self) -> int:
        return 1

    def start(self, assignment: Assignment) -> None:
        self._assigned = assignment

    def wait(self) -> Sequence[Ended]:
        assigned = self._assigned
        assert assigned is not None
        return [Ended(assigned, run_here(assigned, self._tell))]

    def close(self) -> None:
        self._assigned = None


def run_here(assigned: Assignment, tell: Tell) -> Any:
    """Run a task in this process, store its result and return it."""
    task, folder = assigned.task, assigned.folder
    return store_result(task, folder, run_task(task, folder, assigned.needs, partial(tell, task)))


class LocalWorkers:
    """Processes that stay for the next task: starting Python and torch takes seconds."""

    def __init__(self, workers: int, tell: Tell) -> None:
        self._workers, self._tell = workers, tell
        self._idle: list[_Process] = []
        self._busy: dict[Connection, tuple[_Process, Assignment]] = {}

    def capacity(self) -> int:
        return self._workers

    def start(self, assignment: Assignment) -> None:
        living = [process for process in self._idle if process.is_alive()]
        process = living.pop() if living else _Process()
        self._idle = living
        process.pipe.send((assignment.task, assignment.folder, assignment.needs))
        self._busy[process.pipe] = (process, assignment)

    def wait(self) -> Sequence[Ended]:
        ended: list[Ended] = []
        while not ended:
            for pipe in wait(list(self._busy)):
                end = self._receive(pipe)  # type: ignore[arg-type]
                ended += [] if end is None else [end]
        return ended

    def _receive(self, pipe: Connection) -> Ended | None:
        """Receive one event of a process; None if its task goes on."""
        process, assignment = self._busy[pipe]
        try:
            event, content = pipe.recv()
        except (EOFError, ConnectionError):
            del self._busy[pipe]
            return Ended(assignment, death=process.death(assignment.task))
        if event == "message":
            self._tell(assignment.task, content)
            return None
        self._idle.append(self._busy.pop(pipe)[0])
        if event == "failed":
            raise content
        return Ended(assignment, content)

    def close(self) -> None:
        for process in (*self._idle, *(process for process, _ in self._busy.values())):
            process.end()
        self._idle, self._busy = [], {}


class _Process:
    """A process that runs one task after another, and its pipe."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self._process = context.Process(target=_work, args=(other,), daemon=True)
        # Before the process starts: the user's main module, which it imports, may import torch.
        with environment(THREADS, "1"):
            self._process.start()
        other.close()

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def death(self, task: Task) -> str:
        """Return how the process died; raise if it ended by itself, which it would do again."""
        self._process.join()
        code = self._process.exitcode or 0
        if code >= 0:
            raise RunStopped(
                f"The process of the task {task.name!r} ended with exit code {code} and "
                "no result. Run the same command again to resume."
            )
        return OUT_OF_MEMORY if code == -9 else f"died from signal {-code}"

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
        self.pipe.close()


def _work(pipe: Connection) -> None:
    """Run the tasks that come through a pipe, and send their messages and results."""
    # Ctrl-C reaches the parent, which ends its children; here it would only print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        task, folder, needs = pipe.recv()
        try:
            pipe.send(("done", _run(task, folder, needs, pipe)))
        except BrittleError as error:
            pipe.send(("failed", error))


def _run(task: Task, folder: Path, needs: Mapping[str, Any], pipe: Connection) -> Any:
    stored = run_task(task, folder, needs, lambda message: pipe.send(("message", message)))
    return store_result(task, folder, stored)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
