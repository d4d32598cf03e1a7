"""Rules tried on all targets of a pool: every target is asked once about every text on the way."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brittle.errors import UsageError
from brittle.files import digest, is_path, make_private_folder, replacing
from brittle.studies.pool_tasks import is_portable, models_in, train_name, train_tasks, zoo_specs
from brittle.studies.pools import Member
from brittle.studies.rules.evaluation import RuledText, evaluate_rules, load_rows
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import FAILED, Report, Task, TaskContext

KEEP = "rules"


def try_rules(
    members: Sequence[Member],
    rules: Mapping[str, Path],
    data: Mapping[str, Any],
    folder: Path,
    report: Report,
    backend: Workers | None = None,
) -> tuple[dict[str, dict[str, list[RuledText]]], dict[str, str]]:
    """Return the texts of all rules by member and name of the rules, and why members failed.

    `rules` are files by name; `data` are the arguments of `brittle.data.load`: data, split, limit,
    seed, text, label and locked. What was answered is kept in the folder.
    """
    names = _copy(rules, folder)
    training = train_tasks(zoo_specs([Member(m.name, m.spec) for m in members]))
    trained = {task.name for task in training}
    keep = Task(KEEP, keep_rules, {"files": names}, leaves=kept_files, here=_here)
    tasks = [keep, *training]
    for member in members:
        models = [train_name(model) for model in models_in(member.spec)]
        needs = (KEEP, *(name for name in models if name in trained))
        arguments = {"spec": member.spec, "rules": names, **data}
        stays = None if is_portable(member.spec) and not is_path(data["data"]) else _here
        name = try_name(member)
        tasks.append(Task(name, evaluate_rules, arguments, needs, here=stays, may_fail=True))
    results = run_tasks(tasks, folder, report, backend)
    found = {member.name: results[try_name(member)] for member in members}
    failures = {name: str(result[FAILED]) for name, result in found.items() if FAILED in result}
    if len(failures) == len(members):
        raise UsageError(f"No target could be asked. The first: {next(iter(failures.values()))}")
    rows = {name: load_rows(result) for name, result in found.items() if name not in failures}
    return rows, failures


def try_name(member: Member) -> str:
    """Name the task that tries the rules on a member."""
    return f"rules on {member.spec}"


def keep_rules(context: TaskContext, *, files: Mapping[str, str]) -> dict[str, Any]:
    """Return the names of the files, which lie in the folder."""
    return {"files": dict(files)}


def kept_files(folder: Path, result: Mapping[str, Any]) -> list[Path]:
    """Return the files of the rules."""
    return [folder / name for name in result["files"].values()]


def _here(context: TaskContext, **arguments: Any) -> bool:
    return True


def _copy(rules: Mapping[str, Path], folder: Path) -> dict[str, str]:
    """Copy files of rules into the folder, each under a name by its content."""
    make_private_folder(folder)
    names = {name: f"{name}-{digest(file)[:12]}.rules" for name, file in rules.items()}
    for name, file in rules.items():
        if not (folder / names[name]).exists():
            with replacing(folder / names[name], private=True) as new:
                shutil.copyfile(file, new)
    return names
