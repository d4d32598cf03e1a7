"""The tasks of a paper from the groups in its paper.toml.

A group names a function of this package (`do = "tasks:train"`), what its tasks share (`with`), and
the tasks themselves: one under `name`, or one for each combination of `each`. Where `when` names a
value, the group is left out if that value is empty. A task needs those that its arguments name.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from brittle.workflow.tasks import Task, TaskContext, stored_as
from brittle_papers.spec import PaperSpec, Table, expand, fill, merge

TaskResult = dict[str, Any]
F = TypeVar("F", bound=Callable[..., TaskResult])
Values = Mapping[str, Any]


@dataclass(frozen=True)
class TaskKind:
    """What holds for all tasks of a function.

    `reads` are the arguments that name tasks whose results it needs. What `leaves`, `here` and
    `is_stage` are stands with Task.
    """

    reads: tuple[str, ...] = ()
    leaves: Callable[[Path, Any], Sequence[Path]] | None = None
    here: Callable[..., bool] | None = None
    is_stage: bool = False


_KINDS: dict[Callable[..., TaskResult], TaskKind] = {}


def task_function(
    stored: str,
    *reads: str,
    leaves: Callable[[Path, Any], Sequence[Path]] | None = None,
    here: Callable[..., bool] | None = None,
    is_stage: bool = False,
) -> Callable[[F], F]:
    """Make a function one of tasks; `stored` is the name that its stored results have."""

    def mark(function: F) -> F:
        _KINDS[function] = TaskKind(reads, leaves, here, is_stage)
        return stored_as(stored)(function)

    return mark


def stays_here(context: TaskContext, **arguments: Any) -> bool:
    """Tell that a task is not for another machine: it opens models by the paths of this one."""
    return True


def build_task(
    name: str,
    function: Callable[..., TaskResult],
    needs: Sequence[str] = (),
    /,
    **arguments: Any,
) -> Task:
    """Build a task of one of the functions of papers; `needs` are those that no argument names.

    A misspelt argument is an error at once, not after the hours that the tasks before it take.
    """
    inspect.signature(function).bind(None, **arguments)
    kind = _KINDS[function]
    named = [name for key in kind.reads for name in _names(arguments.get(key))]
    needed = tuple(dict.fromkeys([*needs, *named]))
    return Task(name, function, arguments, needed, kind.leaves, None, kind.here, kind.is_stage)


def _names(argument: Any) -> Iterator[str]:
    """Yield the tasks that an argument names: a name, or a list or table of such."""
    if isinstance(argument, str):
        yield argument
    elif argument is not None:
        parts = argument.values() if isinstance(argument, Mapping) else argument
        for part in parts:
            yield from _names(part)


def plan_tasks(spec: PaperSpec, values: Values) -> list[Task]:
    """Build all tasks of a paper, in the order of its file."""
    return [
        built for group in spec.tasks if is_wanted(group, values) for built in _group(group, values)
    ]


def is_wanted(group: Table, values: Values) -> bool:
    """Tell whether a group's condition holds; one that is not there always does."""
    return "when" not in group or bool(fill(f"${group['when']}", values))


def _group(group: Table, values: Values) -> Iterator[Task]:
    module, _, name = group["do"].partition(":")
    function = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    for own, changes in expand(group.get("each", {}), values):
        arguments = merge(fill(group.get("with", {}), own), fill(changes, own))
        needs = fill(list(group.get("needs", ())), own)
        yield build_task(fill(group["name"], own), function, needs, **arguments)
