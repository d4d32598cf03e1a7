"""Run the tasks of a graph that have no stored result yet, with the workers of a backend.

Messages for a person that come seldom enough to be read.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from brittle.errors import RunStopped
from brittle.formatting import duration, plural
from brittle.workflow.backends.backend import Assignment, Ended, TaskWorkers, Workers, open_workers
from brittle.workflow.tasks import FAILED, Report, Task, TaskGraph, run_task, store_result

MAX_DEATHS = 3
"""A task whose workers died this often stops the workflow, because it may be the cause."""


def run_tasks(
    tasks: Sequence[Task],
    folder: Path,
    report: Report,
    backend: Workers | None = None,
    known: Mapping[str, Any] | None = None,
    start: float | None = None,
) -> dict[str, Any]:
    """Run the tasks that have no stored result yet, and return all results by name.

    `known` are results of this command, which are not looked at again: also those that failed.
    `start` is when the command began, by `time.monotonic`: a command that runs several graphs
    names it, and its messages count tasks and time on from graph to graph.

    Without a backend they run one after another, in this process. A task whose worker dies is run
    again by another one.
    """
    graph = TaskGraph(tasks, folder.absolute(), dict(known or {}), set(known or {}))
    progress = _Progress(graph, report, time.monotonic() if start is None else start)
    with ExitStack() as stack:
        _Running(graph, progress, backend or Workers(), stack).run()
    return graph.results


@dataclass(frozen=True)
class _Progress:
    """Reports what happens, with how many tasks are done and the time since the start."""

    graph: TaskGraph
    report: Report
    start: float

    def tell(self, task: Task, message: str) -> None:
        # Results of earlier graphs of the command are among them, so that no count falls.
        done = self.graph.results.keys()
        tasks = plural(len(done | {other.name for other in self.graph.tasks}), "tasks")
        elapsed = duration(time.monotonic() - self.start)
        self.report(f"[{len(done)} of {tasks} done, {elapsed}] {task.name}: {message}")

    def end(self, task: Task, result: Any) -> None:
        self.graph.results[task.name] = result
        message = result.get("message") if isinstance(result, Mapping) else None
        if not task.is_silent:
            self.tell(task, message or "done")


class _Running:
    """The tasks under way; workers are opened when the first task starts."""

    def __init__(
        self, graph: TaskGraph, progress: _Progress, backend: Workers, stack: ExitStack
    ) -> None:
        self._graph, self._progress = graph, progress
        self._backend, self._stack = backend, stack
        self._workers: TaskWorkers | None = None
        self._count = 0
        self._deaths: Counter[str] = Counter()

    def run(self) -> None:
        while True:
            while self._has_room() and (task := next(self._graph.ready(), None)) is not None:
                if task.is_stage:
                    self._finish_others()
                    self._run_stage(task)
                else:
                    self._start(task)
            if self._workers is None or self._count == 0:
                return
            self._wait()

    def _finish_others(self) -> None:
        while self._count:
            self._wait()

    def _wait(self) -> None:
        assert self._workers is not None
        for ended in self._workers.wait():
            self._count -= 1
            self._end(ended)

    def _has_room(self) -> bool:
        return self._workers is None or self._count < self._workers.capacity()

    def _start(self, task: Task) -> None:
        if self._workers is None:
            self._workers = open_workers(self._backend, self._progress.tell)
            self._stack.callback(self._workers.close)
        graph = self._graph
        if not task.is_silent:
            self._progress.tell(task, "begins")
        files = graph.files_for(task)
        self._count += 1
        self._workers.start(Assignment(task, graph.folder, graph.needed(task), files))

    def _run_stage(self, task: Task) -> None:
        graph, tell = self._graph, partial(self._progress.tell, task)
        tell("begins")
        done = run_task(task, graph.folder, graph.needed(task), tell, self._backend)
        self._progress.end(task, store_result(task, graph.folder, done))

    def _end(self, ended: Ended) -> None:
        task = ended.assignment.task
        if ended.death is None:
            self._progress.end(task, ended.result)
            return
        self._deaths[task.name] += 1
        if self._deaths[task.name] == MAX_DEATHS:
            reason = (
                f"stopped after {MAX_DEATHS} workers died while running it; the last one "
                f"{ended.death}"
            )
            if task.may_fail:
                message = f"{FAILED}: {reason}"
                self._progress.end(task, {FAILED: reason, "message": message})
                return
            raise RunStopped(
                f"The task {task.name!r} was {reason}. Finished tasks are kept: run the "
                "same command again to resume."
            )
        self._progress.tell(task, f"starts again: its worker {ended.death}")
        assert self._workers is not None
        self._count += 1
        self._workers.start(ended.assignment)


SECONDS_BETWEEN_MESSAGES = 20.0


def throttle(report: Report) -> Report:
    """Return a report that drops messages which come too soon after the last one."""
    last = time.monotonic()

    def throttled(message: str) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_MESSAGES:
            last = time.monotonic()
            report(message)

    return throttled
