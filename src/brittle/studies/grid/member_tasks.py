"""The tasks of a grid: for each member, and as a graph.

What the tasks of a grid do: keep texts, have a target label them, and attack it. A member that
fails is a result with the reason under "failed": the other tasks go on. The graph of a grid: open
the targets, label texts until there are cases, attack every target.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from brittle.data import Dataset
from brittle.edits import patch
from brittle.errors import Interrupted, StoreError, UsageError, message_of
from brittle.formatting import plural
from brittle.results import Result, has_adversary
from brittle.runs.keywords import SharedAnswers
from brittle.runs.run import Run
from brittle.runs.runner import attack as run_attack
from brittle.safety import files
from brittle.studies.grid.request import ChosenAttack, embedding_first
from brittle.studies.grid.study import CellRow
from brittle.studies.pool_tasks import models_in, train_name
from brittle.studies.pools import Member
from brittle.studies.transfer.member_tasks import (
    TEXTS,
    MemberTasks,
    TaskResult,
    attack_name,
    digest_named,
    memory_file,
    names_failure,
    open_name,
    reads_files_of_this_machine,
    succeeded,
)
from brittle.studies.transfer.scoring import columns_of, label_texts, pack_texts, unpack_texts
from brittle.workflow.running import throttle
from brittle.workflow.tasks import FAILED, Task, TaskContext, slug

CASES = "cases"
REFUSED = "refused"
"""The key of the reason in a cell whose attack needs more than the target offers."""


@dataclass(frozen=True)
class GridTasks:
    """The functions of the tasks; `live` holds targets of this process, by their specs.

    `names` are those of all members by spec, which the progress of a cell needs.
    """

    live: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def keep_texts(self, context: TaskContext, *, texts: TaskResult, message: str) -> TaskResult:
        """Return texts, which other tasks need."""
        return texts | {"message": message}

    @names_failure
    def label_member(
        self, context: TaskContext, *, spec: str, block: str, memory: str
    ) -> TaskResult:
        """Return the index, among the target's labels, that it predicts for every text."""
        succeeded(context, open_name(spec))
        texts = [example.fields for example in unpack_texts(context.needs[block]).examples]
        with MemberTasks(self.live).opened(context, spec) as target:
            file, report = context.folder / memory, throttle(context.report)
            labels = label_texts(target, texts, file, report)
        return {"labels": labels, "message": f"labels of {plural(len(texts), 'texts')}"}

    @names_failure
    def attack_member(
        self,
        context: TaskContext,
        *,
        spec: str,
        attacks: Sequence[Mapping[str, Any]],
        seed: int,
        budget: int | None,
        files: Mapping[str, str] | None = None,
    ) -> TaskResult:
        """Run all attacks on one target, one after another; they share its answers.

        `files` are the digests of files that the settings name: new contents are a new attack.
        """
        opened = succeeded(context, open_name(spec))
        shared, cells = SharedAnswers(), {}
        chosen = [ChosenAttack(**attack) for attack in attacks]
        with MemberTasks(self.live).opened(context, spec) as target:
            chosen = embedding_first(chosen, target, unpack_texts(context.needs[CASES]))
        before = list(self.names).index(spec) * len(chosen) if spec in self.names else 0
        total = max(len(self.names), 1) * len(chosen)
        for number, attack in enumerate(chosen, before + 1):
            cell = f"cell {number:,} of {total:,}, {attack.row} on {self.names.get(spec, spec)}"
            about = [opened["fingerprint"], asdict(attack), seed, budget, files]
            name = run_name(spec, attack, [*about, context.needs[CASES]])
            try:
                run = self._attack(context, spec, attack, seed, budget, name, shared, cell)
            except (Interrupted, StoreError):
                raise
            except UsageError as error:
                cells[attack.row] = {REFUSED: message_of(error)}
            except Exception as error:  # a target is code of others, and may raise anything
                cells[attack.row] = {FAILED: message_of(error)}
            else:
                cells[attack.row] = stored_cell(run)
            context.report(f"{cell}: {_ended(cells[attack.row])}")
        return {"cells": cells, **_ending(cells)}

    def _attack(
        self,
        context: TaskContext,
        spec: str,
        attack: ChosenAttack,
        seed: int,
        budget: int | None,
        name: str,
        shared: SharedAnswers,
        cell: str,
    ) -> Run:
        """Attack as `brittle attack` does: the target is opened by its spec, as the attack asks.

        `cell` says in messages which attack on which target this is.
        """
        report_seldom = throttle(context.report)

        def report(progress: Any) -> None:
            broken = progress.counts.get("broken", 0)
            done = f"{progress.done:,} of {plural(progress.planned, 'cases')}, {broken:,} broken"
            report_seldom(f"{cell}: {done}")

        return run_attack(
            self.live.get(spec, spec),
            unpack_texts(context.needs[CASES]),
            attack.name,
            seed=seed,
            budget=budget,
            name=name,
            folder=context.folder,
            progress=report,
            shared=shared,
            columns=columns_of(context.needs[TEXTS]),
            **attack.settings,
        )


def run_name(spec: str, attack: ChosenAttack, about: Sequence[Any]) -> str:
    """Name the run of a cell: an attack that is added later leaves the others as they are."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:8]
    return f"{slug(attack.row)[:40]}-on-{slug(spec)[:60]}-{digest}"


def stored_cell(run: Run) -> TaskResult:
    """Return what a study keeps of a run."""
    totals = run.totals
    return {
        "run": run.path.name,
        "rows": [asdict(_row(result)) for result in run.as_stored().results()],
        "asked": int(totals["asked"]),
        "sent": int(totals["sent"]),
        "warnings": run.manifest["warnings"],
    }


def run_files(folder: Path, result: TaskResult) -> list[Path]:
    """Return the files of the runs of an attack task."""
    return [folder / cell["run"] for cell in result.get("cells", {}).values() if "run" in cell]


def _row(result: Result) -> CellRow:
    is_shown = has_adversary(result)
    after = tuple(patch(dict(result.fields), result.edits).items()) if is_shown else None
    # Only attacks that draw candidates count them.
    tried, won = (getattr(result, name, None) for name in ("tried", "won"))
    about = (result.case, result.status, result.reason, result.queries)
    return CellRow(*about, tried, won, after)


def _ended(cell: TaskResult) -> str:
    """Say how a cell ended: how many cases broke, or why there are none."""
    if "run" not in cell:
        reason = str(cell.get(REFUSED) or cell.get(FAILED))
        return f"empty, {reason.partition('. ')[0]}"
    broken = sum(row["status"] == "broken" for row in cell["rows"])
    return f"{broken:,} of {plural(len(cell['rows']), 'cases')} broken"


def _ending(cells: Mapping[str, TaskResult]) -> TaskResult:
    """Say how the attacks ended; a task with one that failed is run again by the next command."""
    done = [cell for cell in cells.values() if "run" in cell]
    sent = sum(cell["sent"] for cell in done)
    message = f"{len(done)} of {plural(len(cells), 'attacks')}, {plural(sent, 'rows')} computed"
    failed = {row: cell[FAILED] for row, cell in cells.items() if FAILED in cell}
    if not failed:
        return {"message": message}
    reasons = "; ".join(f"{row}: {reason}" for row, reason in failed.items())
    return {"message": f"{message}; failed: {', '.join(failed)}", FAILED: reasons}


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
    tasks = [*training, Task(TEXTS, GridTasks(live).keep_texts, arguments, is_silent=True)]
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
    tasks = [Task(block, functions.keep_texts, about, is_silent=True)]
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
    functions = GridTasks(live, {member.spec: member.name for member in members})
    message = f"{plural(len(cases), ('case is', 'cases are'))} attacked"
    about = {"texts": pack_texts(cases), "message": message}
    tasks = [Task(CASES, functions.keep_texts, about, is_silent=True)]
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
