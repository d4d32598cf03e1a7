"""The graph of a grid: open the targets, label texts until there are cases, attack every target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from brittle import files
from brittle.data import Dataset
from brittle.formatting import plural
from brittle.studies.grid.chosen_attacks import ChosenAttack
from brittle.studies.grid.member_tasks import CASES, GridTasks, run_files
from brittle.studies.pool_tasks import models_in, train_name
from brittle.studies.pools import Member
from brittle.studies.transfer.member_tasks import TEXTS, MemberTasks, attack_name, open_name
from brittle.studies.transfer.tasks import (
    digest_named,
    memory_file,
    reads_files_of_this_machine,
)
from brittle.studies.transfer.texts import pack_texts
from brittle.workflow.tasks import Task


def label_name(spec: str, block: str) -> str:
    """Name the task in which a target labels a block of texts."""
    return f"label {block} by {spec}"


def open_tasks(
    members: Sequence[Member],
    dataset: Dataset,
    live: Mapping[str, Any],
    training: Sequence[Task],
) -> list[Task]:
    """Build the tasks that open every member, after those that train it.

    They need one text, which tells the fields and the columns of all.
    """
    trained = {task.name for task in training}
    first = pack_texts(replace(dataset, examples=dataset.examples[:1]))
    arguments: dict[str, Any] = {"texts": first, "message": "the form of the texts"}
    tasks = [*training, Task(TEXTS, GridTasks(live).keep_texts, arguments)]
    for member in members:
        spec = member.spec
        contents = live[spec].fingerprint if spec in live else digest_named(spec)
        models = [train_name(model) for model in models_in(spec)]
        needs = (TEXTS, *(name for name in models if name in trained))
        tasks.append(
            _task(
                *(open_name(spec), MemberTasks(live).open_member),
                {"spec": spec, "contents": contents},
                needs,
            )
        )
    return tasks


def label_tasks(
    members: Sequence[Member],
    texts: Dataset,
    block: str,
    opening: Sequence[Task],
    live: Mapping[str, Any],
) -> list[Task]:
    """Build the tasks in which every member labels a block of texts."""
    functions = GridTasks(live)
    message = f"{plural(len(texts), ('text is', 'texts are'))} labelled"
    about = {"texts": pack_texts(texts), "message": message}
    tasks = [Task(block, functions.keep_texts, about)]
    for member in members:
        memory = memory_file(member.spec)
        arguments = {"spec": member.spec, "block": block, "memory": memory}
        needs = (*_needs(member, opening), block)
        name = label_name(member.spec, block)
        task = _task(name, functions.label_member, arguments, needs)
        tasks.append(replace(task, memory=memory))
    return tasks


def attack_tasks(
    members: Sequence[Member],
    cases: Dataset,
    attacks: Sequence[ChosenAttack],
    opening: Sequence[Task],
    live: Mapping[str, Any],
    *,
    seed: int,
    budget: int | None,
) -> list[Task]:
    """Build one task for every member, which runs all attacks on it."""
    functions = GridTasks(live)
    message = f"{plural(len(cases), ('case is', 'cases are'))} attacked"
    about = {"texts": pack_texts(cases), "message": message}
    tasks = [Task(CASES, functions.keep_texts, about)]
    named: dict[str, str] = {}
    for attack in attacks:
        named |= files.named_files(attack.settings)
    for member in members:
        arguments: dict[str, Any] = {"spec": member.spec, "attacks": list(map(asdict, attacks))}
        arguments |= {"seed": seed, "budget": budget} | ({"files": named} if named else {})
        needs = (*_needs(member, opening), CASES)
        task = _task(attack_name(member.spec), functions.attack_member, arguments, needs)
        tasks.append(replace(task, leaves=run_files))
    return tasks


def _needs(member: Member, opening: Sequence[Task]) -> tuple[str, ...]:
    name = open_name(member.spec)
    task = next(task for task in opening if task.name == name)
    return (TEXTS, name, *task.needs[1:])


def _task(name: str, function: Any, arguments: dict[str, Any], needs: tuple[str, ...]) -> Task:
    """Build a task about one member: if it fails, the others go on."""
    return Task(
        *(name, function, arguments, needs), here=reads_files_of_this_machine, may_fail=True
    )
