"""Steps side by side, in processes of their own; what they say comes back to the parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from brittle.errors import BrittleError, RunStopped, UsageError
from brittle.formatting import duration
from brittle.workflow.tasks import Report, Task, TaskGraph, run_task


def run_tasks(tasks: Sequence[Task], folder: Path, say: Report, jobs: int = 1) -> dict[str, Any]:
    """Do the steps that are not done yet, as many at once as there are jobs; gives all results."""
    course = TaskGraph(tasks, folder)
    hear = _Reporter(course, say, time.monotonic())
    if jobs == 1:
        while not course.is_over:
            for each in course.ready():
                hear.began(each)
                needs = course.needed(each)
                hear.ended(each, _told(each, folder, needs, hear.heard(each)))
        return course.results
    crew: dict[Connection, _Worker] = {}
    try:
        while not course.is_over:
            waiting = course.ready()
            while len(crew) < jobs and (task := next(waiting, None)) is not None:
                hear.began(task)
                member = _started(task, folder, course.needed(task))
                crew[member.pipe] = member
            if course.is_over:
                break
            for pipe in wait(list(crew)):
                member = crew[pipe]  # type: ignore[index]
                if _listen(member, hear):
                    del crew[member.pipe]
    finally:
        for member in crew.values():
            member.process.terminate()
            member.process.join()
    return course.results


@dataclass
class _Reporter:
    """Tells how far the course is, with the time since the start."""

    course: TaskGraph
    report: Report
    start: float

    def began(self, task: Task) -> None:
        self._line(task, "begins")

    def ended(self, task: Task, result: Any) -> None:
        self.course.results[task.name] = result
        told = result.get("told") if isinstance(result, Mapping) else None
        self._line(task, told or "done")

    def heard(self, task: Task) -> Report:
        return lambda message: self._line(task, message)

    def _line(self, task: Task, message: str) -> None:
        number = [s.name for s in self.course.tasks].index(task.name) + 1
        at = duration(time.monotonic() - self.start)
        self.report(f"[step {number} of {len(self.course.tasks)}, {at}] {task.name}: {message}")


@dataclass(frozen=True)
class _Worker:
    task: Task
    process: SpawnProcess
    pipe: Connection


def _started(task: Task, folder: Path, needs: Mapping[str, Any]) -> _Worker:
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(task, folder, needs, theirs), daemon=True)
    process.start()
    theirs.close()
    return _Worker(task, process, mine)


def _listen(member: _Worker, hear: _Reporter) -> bool:
    """Take one message of a process, and say whether it was the last."""
    task = member.task
    try:
        kind, message = member.pipe.recv()
    except EOFError:
        member.process.join()
        raise RunStopped(
            f"The process of the step {task.name!r} ended with the code "
            f"{member.process.exitcode} and no result. The same command goes on from there."
        ) from None
    if kind == "said":
        hear.heard(task)(message)
        return False
    member.process.join()
    if kind == "failed":
        raise message
    hear.ended(task, message)
    return True


def _work(task: Task, folder: Path, needs: Mapping[str, Any], pipe: Connection) -> None:
    """Do a step in a process of its own."""
    # The parent hears Ctrl-C and ends its children; a child that hears it too only makes noise.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        pipe.send(("done", _told(task, folder, needs, lambda told: pipe.send(("said", told)))))
    except BrittleError as error:
        pipe.send(("failed", error))


def _told(task: Task, folder: Path, needs: Mapping[str, Any], say: Report) -> Any:
    """Do a step; what goes wrong on purpose is told with the step's name."""
    try:
        return run_task(task, folder, needs, say)
    except BrittleError as error:
        kind = UsageError if isinstance(error, UsageError) else RunStopped
        raise kind(f"The step {task.name!r}: {error}") from error


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
