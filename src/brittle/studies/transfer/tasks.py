"""The graph of a transfer study: open every target, attack the sources, score the targets."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brittle import files
from brittle.data import Dataset
from brittle.studies.pool_tasks import is_portable, models_in, train_name
from brittle.studies.pools import Member
from brittle.studies.transfer.member_tasks import (
    TEXTS,
    MemberTasks,
    attack_name,
    open_name,
    run_files,
)
from brittle.studies.transfer.texts import pack_texts
from brittle.workflow.tasks import Task, TaskContext, slug


def score_name(spec: str) -> str:
    """Name the task that scores a target, or the twin of one."""
    return f"score {spec}"


def open_tasks(
    members: Sequence[Member],
    dataset: Dataset,
    live: Mapping[str, Any],
    training: Sequence[Task] = (),
) -> list[Task]:
    """Build the tasks that come first: the texts, and opening every member and its twin.

    `live` holds targets of this process by their specs; `training` are the `train_tasks` of all
    models of the zoo among them.
    """
    functions = MemberTasks(live)
    trained = {task.name for task in training}
    tasks = [*training, Task(TEXTS, functions.keep_texts, {"texts": pack_texts(dataset)})]
    for spec in _specs(members):
        contents = live[spec].fingerprint if spec in live else digest_named(spec)
        models = [train_name(model) for model in models_in(spec)]
        needs = (TEXTS, *(name for name in models if name in trained))
        arguments = {"spec": spec, "contents": contents}
        tasks.append(
            Task(
                *(open_name(spec), functions.open_member, arguments, needs),
                here=reads_files_of_this_machine,
                may_fail=True,
            )
        )
    return tasks


def transfer_tasks(
    sources: Sequence[Member],
    targets: Sequence[Member],
    opening: Sequence[Task],
    attack: str,
    settings: Mapping[str, Any],
    *,
    seed: int = 0,
    winners: int = 500,
    live: Mapping[str, Any] | None = None,
) -> list[Task]:
    """Build the tasks of a study; `opening` are the `open_tasks` of all sources and targets.

    Every target is scored on the first `winners` texts of every source and on all originals; the
    twin of a member that is source and target, on that member's texts alone.
    """
    functions = MemberTasks(live or {})
    needs = {task.name: (TEXTS, task.name, *task.needs[1:]) for task in opening}
    tasks = list(opening)
    names = list(dict.fromkeys(source.spec for source in sources))
    named = files.named_files(settings)
    for spec in names:
        arguments: dict[str, Any] = {"spec": spec, "attack": attack, "settings": dict(settings)}
        arguments |= {"seed": seed} | ({"files": named} if named else {})
        name = attack_name(spec)
        tasks.append(
            Task(
                *(name, functions.attack_member, arguments, needs[open_name(spec)], run_files),
                here=reads_files_of_this_machine,
                may_fail=True,
            )
        )
    scored = [(target.spec, names, True) for target in targets]
    scored += [(str(member.twin), [member.spec], False) for member in paired(sources, targets)]
    for spec, by, all_originals in scored:
        memory = memory_file(spec)
        arguments = {"spec": spec, "sources": by, "winners": winners, "memory": memory}
        arguments |= {"all_originals": all_originals}
        needed = (*needs[open_name(spec)], *map(attack_name, by))
        tasks.append(
            Task(
                *(score_name(spec), functions.score_member, arguments, needed),
                memory=memory,
                here=reads_files_of_this_machine,
                may_fail=True,
                reads=needs[open_name(spec)],
            )
        )
    return tasks


def reads_files_of_this_machine(
    context: TaskContext, *, spec: str, files: Mapping[str, str] | None = None, **others: Any
) -> bool:
    """Tell whether a task needs a target or a file that only this machine has."""
    return bool(files) or not is_portable(spec)


def paired(sources: Sequence[Member], targets: Sequence[Member]) -> list[Member]:
    """Return the members that have a cell on the diagonal: source, target, and with a twin."""
    names = {source.name for source in sources}
    return [target for target in targets if target.twin and target.name in names]


def memory_file(spec: str) -> str:
    """Return the path, in the study's folder, of the labels that a target has predicted."""
    return f"labels/{slug(spec)[:80]}-{hashlib.sha256(spec.encode()).hexdigest()[:8]}.jsonl"


def digest_named(spec: str) -> str | None:
    """Return a digest of the file or folder that a spec names, None if it names none."""
    for name in filter(files.is_path, (spec, spec.partition(":")[2])):
        path = Path(name)
        if name and path.is_file():
            return files.digest(path)
        if name and path.is_dir():
            return files.digest_of(sorted(p for p in path.rglob("*") if p.is_file()))
    return None


def _specs(members: Sequence[Member]) -> list[str]:
    twins = (member.twin for member in members if member.twin is not None)
    return list(dict.fromkeys([*(member.spec for member in members), *twins]))
