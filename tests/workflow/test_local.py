"""Processes of this machine as workers: they stay for the next task, and may die."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import RunStopped
from brittle.workflow.backends import Workers
from brittle.workflow.backends.backend import Assignment
from brittle.workflow.backends.local import LocalWorkers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Task, TaskContext


def name_process(context: TaskContext, *, number: int) -> dict[str, Any]:
    return {"process": os.getpid()}


def die(context: TaskContext, *, times: int, number: int) -> dict[str, Any]:
    """Kill this process the first few times that the task is run."""
    log = context.folder / f"deaths-{number}"
    deaths = len(log.read_text()) if log.exists() else 0
    if deaths < times:
        log.write_text("x" * (deaths + 1))
        os.kill(os.getpid(), number)
    return {"deaths": deaths}


def test_a_task_whose_process_is_killed_is_run_again(tmp_path: Path) -> None:
    messages: list[str] = []
    tasks = [
        Task("first", name_process, {"number": 0}),
        Task("dies", die, {"times": 1, "number": int(signal.SIGKILL)}, ("first",)),
        Task("last", name_process, {"number": 1}, ("dies",)),
    ]
    results = run_tasks(tasks, tmp_path, messages.append, Workers(2))
    assert results["dies"] == {"deaths": 1}
    # The process of the first task was there for the second one, and died with it.
    assert results["first"] != results["last"]
    (again,) = (message for message in messages if "starts again" in message)
    assert "its worker was killed; systems do this when" in again and "memory" in again


@pytest.mark.slow
def test_a_task_that_kills_every_process_is_given_up(tmp_path: Path) -> None:
    tasks = [Task("dies", die, {"times": 9, "number": int(signal.SIGTERM)})]
    expected = (
        "'dies' was stopped after 3 workers died while running it; the last one died from signal"
    )
    with pytest.raises(RunStopped, match=expected):
        run_tasks(tasks, tmp_path, print, Workers(2))


@pytest.mark.slow
def test_processes_stay_for_the_next_task(tmp_path: Path) -> None:
    tasks = [Task(f"task {n}", name_process, {"number": n}) for n in range(6)]
    results = run_tasks(tasks, tmp_path, print, Workers(2))
    processes = {result["process"] for result in results.values()}
    assert 1 <= len(processes) <= 2 and os.getpid() not in processes


def is_alive(process: int) -> bool:
    """Tell whether a child of this process lives; one that has ended is no longer waited for."""
    return any(child.pid == process for child in multiprocessing.active_children())


@pytest.mark.slow
def test_a_process_that_died_between_two_tasks_is_replaced(tmp_path: Path) -> None:
    workers = LocalWorkers(2, lambda task, message: None)
    try:
        workers.start(Assignment(Task("one", name_process, {"number": 1}), tmp_path, {}))
        (first,) = workers.wait()
        os.kill(first.result["process"], signal.SIGKILL)
        while is_alive(first.result["process"]):
            time.sleep(0.01)
        workers.start(Assignment(Task("two", name_process, {"number": 2}), tmp_path, {}))
        (second,) = workers.wait()
        assert second.death is None and second.result != first.result
    finally:
        workers.close()
