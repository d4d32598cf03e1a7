"""Run tasks one after another, or side by side in processes, each of which ends with its parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from brittle.errors import BrittleError, RunStopped, UsageError
from brittle.formatting import duration
from brittle.workflow.tasks import Report, Task, TaskGraph, run_task


def run_tasks(
    tasks: Sequence[Task], folder: Path, report: Report, workers: int = 1
) -> dict[str, Any]:
    """Run the tasks that have no stored result yet, and return all results by name."""
    graph = TaskGraph(tasks, folder)
    progress = _Progress(graph, report, time.monotonic())
    if workers > 1:
        _run_in_processes(graph, progress, workers)
    else:
        for task in graph.ready():
            progress.tell(task, "begins")
            needs = graph.needed(task)
            progress.end(task, _run(task, folder, needs, partial(progress.tell, task)))
    return graph.results


@dataclass(frozen=True)
class _Progress:
    """Reports what happens, with the number of the task and the time since the start."""

    graph: TaskGraph
    report: Report
    start: float

    def tell(self, task: Task, message: str) -> None:
        number = [other.name for other in self.graph.tasks].index(task.name) + 1
        elapsed = duration(time.monotonic() - self.start)
        count = len(self.graph.tasks)
        self.report(f"[task {number} of {count}, {elapsed}] {task.name}: {message}")

    def end(self, task: Task, result: Any) -> None:
        self.graph.results[task.name] = result
        message = result.get("message") if isinstance(result, Mapping) else None
        self.tell(task, message or "done")


@dataclass(frozen=True)
class _Worker:
    task: Task
    process: SpawnProcess
    pipe: Connection


def _run_in_processes(graph: TaskGraph, progress: _Progress, workers: int) -> None:
    running: dict[Connection, _Worker] = {}
    try:
        while True:
            ready = graph.ready()
            while len(running) < workers and (task := next(ready, None)) is not None:
                progress.tell(task, "begins")
                worker = _start(task, graph.folder, graph.needed(task))
                running[worker.pipe] = worker
            if not running:
                return
            for pipe in wait(list(running)):
                worker = running[pipe]  # type: ignore[index]
                if _receive(worker, progress):
                    del running[worker.pipe]
    finally:
        for worker in running.values():
            worker.process.terminate()
            worker.process.join()


def _start(task: Task, folder: Path, needs: Mapping[str, Any]) -> _Worker:
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(task, folder, needs, sender), daemon=True)
    process.start()
    sender.close()
    return _Worker(task, process, receiver)


def _receive(worker: _Worker, progress: _Progress) -> bool:
    """Receive one event of a worker, and tell whether it was the last one."""
    try:
        event, content = worker.pipe.recv()
    except EOFError:
        worker.process.join()
        raise RunStopped(
            f"The process of the task {worker.task.name!r} ended with the code "
            f"{worker.process.exitcode} and no result. The same command goes on from there."
        ) from None
    if event == "message":
        progress.tell(worker.task, content)
        return False
    worker.process.join()
    if event == "failed":
        raise content
    progress.end(worker.task, content)
    return True


def _work(task: Task, folder: Path, needs: Mapping[str, Any], pipe: Connection) -> None:
    """Run a task in a process of its own, and send its messages and its result."""
    # Ctrl-C reaches the parent, which ends its children; here it would only print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        result = _run(task, folder, needs, lambda message: pipe.send(("message", message)))
        pipe.send(("done", result))
    except BrittleError as error:
        pipe.send(("failed", error))


def _run(task: Task, folder: Path, needs: Mapping[str, Any], report: Report) -> Any:
    """Run a task, and add its name to an error."""
    try:
        return run_task(task, folder, needs, report)
    except BrittleError as error:
        kind = UsageError if isinstance(error, UsageError) else RunStopped
        raise kind(f"The task {task.name!r}: {error}") from error


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
