"""Work in steps: each is done once, its result kept as JSON, and the rest goes on after any end.

A step is kept under a key over its function, what it is given, and the results it needs: with other
settings or other data it is another step. Steps that need nothing of each other run side by side,
each in a process of its own, which ends with its parent.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brittle import files
from brittle.errors import unknown

Report = Callable[[str], None]


@dataclass(frozen=True)
class TaskContext:
    """What a step finds when it is done: where to write, what it needs, and who hears of it.

    `label` is a name for its files that no step of other settings has.
    """

    folder: Path
    label: str
    needs: Mapping[str, Any]
    report: Report


@dataclass(frozen=True)
class Task:
    """One task of a graph: `function` is called with a context and the `arguments`.

    The function returns a result that JSON can hold. `is_valid` tells whether the files that a
    stored result names are still there.
    """

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    is_valid: Callable[[Path, Any], bool] | None = None

    def key(self, results: Mapping[str, Any]) -> str:
        """Hash what decides the result."""
        needed = {name: results[name] for name in self.needs}
        told = [
            f"{self.function.__module__}:{self.function.__qualname__}",
            dict(self.arguments),
            needed,
        ]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]

    def file(self, folder: Path) -> Path:
        """Give where the result is kept."""
        return folder / "steps" / f"{slug(self.name)}.json"


def slug(name: str) -> str:
    """Make a file's name of a step's.

    >>> slug("train LSTM, 64 units")
    'train-LSTM-64-units'
    """
    return re.sub(r"[^\w.+]+", "-", name).strip("-")


def select_tasks(tasks: Sequence[Task], only: str | None) -> list[Task]:
    """Give all steps, or one of them with those that it needs, in order."""
    if only is None:
        return list(tasks)
    by_name = {task.name: task for task in tasks}
    if only not in by_name:
        raise unknown("step", only, by_name)
    needed = {only}
    for task in reversed(tasks):
        if task.name in needed:
            needed |= set(task.needs)
    return [task for task in tasks if task.name in needed]


def load_result(task: Task, folder: Path, results: Mapping[str, Any]) -> Any | None:
    """Read a step's result, or None where it is not there, of other settings, or not whole."""
    try:
        told = json.loads(task.file(folder).read_text("utf-8"))
        result = told["result"]
        if told["key"] != task.key(results):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return result if task.is_valid is None or task.is_valid(folder, result) else None


def run_task(task: Task, folder: Path, needs: Mapping[str, Any], say: Report) -> Any:
    """Do a step and keep its result; a file is whole or not there."""
    key = task.key(needs)
    started = time.perf_counter()
    result = task.function(
        TaskContext(folder, f"{slug(task.name)}-{key[:6]}", needs, say), **task.arguments
    )
    seconds = round(time.perf_counter() - started, 1)
    told = {"step": task.name, "key": key, "seconds": seconds, "result": result}
    file = task.file(folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    files.write_whole(file, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    # As it will be read again: JSON has neither tuples nor keys that are no strings.
    return json.loads(json.dumps(result))


@dataclass
class TaskGraph:
    """How far the steps are: what is done, what is left, and what can begin now."""

    tasks: Sequence[Task]
    folder: Path
    results: dict[str, Any] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)

    def ready(self) -> Iterator[Task]:
        """Give the steps that can begin, in order; those done before are noted on the way."""
        for task in self.tasks:
            if task.name in self.started or not set(task.needs) <= set(self.results):
                continue
            self.started.add(task.name)
            result = load_result(task, self.folder, self.results)
            if result is None:
                yield task
            else:
                self.results[task.name] = result

    def needed(self, task: Task) -> dict[str, Any]:
        return {name: self.results[name] for name in task.needs}

    @property
    def is_over(self) -> bool:
        return len(self.results) == len(self.tasks)
