"""Tasks with JSON results: each is run once, and a workflow that was stopped goes on from there.

A result is stored under a key, a hash of the task's function, its arguments and the results that it
needs. With other settings or other data the key differs, and the task is run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from brittle.errors import BrittleError, RunStopped, UsageError, unknown
from brittle.safety import files
from brittle.safety.schema import parse

MAX_FILE_NAME = 120  # file systems allow 255 bytes, of which runs and locks need some
FAILED = "failed"
"""The key of the reason in the result of a failed task that does not stop the others."""

Report = Callable[[str], None]
"""Receives a task's messages for the user while it runs."""


F = TypeVar("F", bound=Callable[..., Any])


def stored_as(name: str) -> Callable[[F], F]:
    """Keep the stored results of a function that has moved: `name` is its former MODULE:NAME."""

    def mark(function: F) -> F:
        function.stored_as = name  # type: ignore[attr-defined]
        return function

    return mark


@dataclass(frozen=True)
class TaskContext:
    """What the function of a task receives besides its arguments.

    `needs` holds the results of the tasks that it needs, by name. Files go into `folder`;
    `unique_name` is a name for them that no task with other settings has. A stage receives the
    `backend` of the workflow, for tasks of its own.
    """

    folder: Path
    unique_name: str
    needs: Mapping[str, Any]
    report: Report
    backend: Any = None


@dataclass(frozen=True)
class Task:
    """One task of a graph: `function` is called with a context and the `arguments`.

    The function returns a result that JSON can hold; a "message" in it is shown when the task
    ends. `leaves` lists the files and folders that a result names, in the workflow's folder or in
    the cache: they are needed wherever the result is used. `memory` is a file of the workflow's
    folder in which the function keeps what it need not compute again when its key changes. `here`
    is called as the function is, and tells that the task is not for another machine: it reads files
    that no task leaves, or finds its work done in the cache of this one. A stage runs tasks of its
    own, so it is run by the process that began the workflow, and alone. The failure of a task that
    `may_fail` is a result with the reason under "failed"; this holds also if its workers die.
    `reads` are the needed tasks whose files it reads; None means all of them. A silent task only
    holds what others need: people are not told that it begins and ends.
    """

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    leaves: Callable[[Path, Any], Sequence[Path]] | None = None
    memory: str | None = None
    here: Callable[..., bool] | None = None
    is_stage: bool = False
    may_fail: bool = False
    reads: tuple[str, ...] | None = None
    is_silent: bool = False

    def key(self, results: Mapping[str, Any]) -> str:
        """Hash everything that decides the result."""
        function = f"{self.function.__module__}:{self.function.__qualname__}"
        function = getattr(self.function, "stored_as", function)
        needed = {name: results[name] for name in self.needs}
        content = json.dumps([function, dict(self.arguments), needed], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    def file(self, folder: Path) -> Path:
        """Return the path of the stored result."""
        return folder / "tasks" / f"{file_name(self.name)}.json"


def slug(name: str) -> str:
    """Turn the name of a task into a name for files.

    >>> slug("train LSTM, 64 units")
    'train-LSTM-64-units'
    """
    return re.sub(r"[^\w.+]+", "-", name).strip("-")


def file_name(name: str) -> str:
    """Turn the name of a task into a name for files, of at most 120 characters.

    Names that are long, or hold a path, end with a digest, so that no two of them share a file.
    """
    plain = slug(name)
    if len(plain) <= MAX_FILE_NAME and "/" not in name:
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{plain[: MAX_FILE_NAME - 9]}-{digest}"


def select_tasks(tasks: Sequence[Task], only: str | None) -> list[Task]:
    """Return all tasks, or the task `only` with those that it needs, in order."""
    if only is None:
        return list(tasks)
    by_name = {task.name: task for task in tasks}
    if only not in by_name:
        raise unknown("task", only, by_name)
    needed = {only}
    for task in reversed(tasks):
        if task.name in needed:
            needed |= set(task.needs)
    return [task for task in tasks if task.name in needed]


def load_result(task: Task, folder: Path, results: Mapping[str, Any]) -> Any | None:
    """Load a stored result; None if it, or a file it names, is missing, or of other settings.

    A task that failed has none either: it is run again. So is one whose result is no longer what
    was stored, or names a file that lies neither in the folder nor in the cache.
    """
    try:
        stored = json.loads(task.file(folder).read_text("utf-8"))
        result = stored["result"]
        if stored["key"] != task.key(results):
            return None
        if stored.get("digest", own := _digest(result)) != own:  # former versions wrote none
            return None
        if isinstance(result, Mapping) and FAILED in result:
            return None
    except (OSError, *files.DAMAGED):
        return None
    try:
        leaves = [] if task.leaves is None else task.leaves(folder, result)
    except files.DAMAGED:  # of a version in which the result was another
        return None
    return result if all(_is_there(path, folder) for path in leaves) else None


def _is_there(path: Path, folder: Path) -> bool:
    """Tell whether a file that a result names exists, and is in the folder or in the cache."""
    own = Path(os.path.abspath(path))  # without "..", which could lead anywhere
    roots = (os.path.abspath(root) for root in (folder, files.cache_folder()))
    return path.exists() and any(own.is_relative_to(root) for root in roots)


def _digest(result: Any) -> str:
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:16]


def load_seconds(task: Task, folder: Path) -> float:
    """Load how long the task of a stored result took; 0 if its file does not say."""
    try:
        return parse(float, json.loads(task.file(folder).read_text("utf-8"))["seconds"])
    except (OSError, *files.DAMAGED):
        return 0.0


def build_context(
    task: Task, folder: Path, needs: Mapping[str, Any], report: Report, backend: Any = None
) -> TaskContext:
    """Build what the function of a task is called with."""
    unique_name = f"{file_name(task.name)}-{task.key(needs)[:6]}"
    return TaskContext(folder, unique_name, needs, report, backend)


def run_task(
    task: Task, folder: Path, needs: Mapping[str, Any], report: Report, backend: Any = None
) -> dict[str, Any]:
    """Run a task, and return its result with all that is stored beside it; nothing is stored."""
    start = time.perf_counter()
    context = build_context(task, folder, needs, report, backend)
    try:
        result = task.function(context, **task.arguments)
    except BrittleError as error:
        kind = UsageError if isinstance(error, UsageError) else RunStopped
        raise kind(f"The task {task.name!r}: {error}") from error
    seconds = round(time.perf_counter() - start, 1)
    stored = {"task": task.name, "key": task.key(needs), "seconds": seconds, "result": result}
    # As it will be loaded: JSON has no tuples, and its keys are strings.
    loaded: dict[str, Any] = json.loads(json.dumps(stored))
    return loaded | {"digest": _digest(loaded["result"])}


def store_result(task: Task, folder: Path, stored: Mapping[str, Any]) -> Any:
    """Store what `run_task` returned in one write, and return the result in it."""
    file = task.file(folder)
    files.make_private_folder(file.parent)
    content = json.dumps(stored, indent=1, ensure_ascii=False) + "\n"
    # UTF-8 cannot hold the lone surrogates of a message; JSON has them as \udXXX.
    files.write_whole(file, content, errors="backslashreplace", private=True)
    return stored["result"]


@dataclass
class TaskGraph:
    """Tasks, each after those that it needs, with the results that are there so far."""

    tasks: Sequence[Task]
    folder: Path
    results: dict[str, Any] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        names: set[str] = set()
        for task in self.tasks:
            if task.name in names or not names.issuperset(task.needs):
                raise ValueError(
                    f"The task {task.name!r} exists twice, or needs a task that does not "
                    f"come before it: {task.needs}."
                )
            names.add(task.name)

    def ready(self) -> Iterator[Task]:
        """Yield the tasks that can start now, in order; stored results are loaded instead."""
        for task in self.tasks:
            if task.name in self.started or not self.results.keys() >= set(task.needs):
                continue
            self.started.add(task.name)
            result = load_result(task, self.folder, self.results)
            if result is None:
                yield task
            else:
                self.results[task.name] = result

    def needed(self, task: Task) -> dict[str, Any]:
        return {name: self.results[name] for name in task.needs}

    def files_for(self, task: Task) -> list[Path]:
        """List the files and folders that the results needed by a task name, and its memory."""
        paths = [
            path
            for needed in self.tasks
            if needed.name in (task.needs if task.reads is None else task.reads)
            if needed.leaves is not None
            for path in needed.leaves(self.folder, self.results[needed.name])
        ]
        memory = self.folder / task.memory if task.memory else None
        return [*paths, *([memory] if memory is not None and memory.exists() else [])]


def load_results(tasks: Sequence[Task], folder: Path) -> dict[str, Any]:
    """Load the stored results of tasks, by name; those that would be run are left out."""
    graph = TaskGraph(tasks, folder)
    for _ in graph.ready():
        pass  # stored results are loaded on the way
    return graph.results
