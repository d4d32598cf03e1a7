"""The tasks of a transfer study: for each member, and as a graph.

What the tasks of a transfer study do: keep the texts, open, attack and score a member. A member
that fails is a result with the reason under "failed": the other tasks go on. The graph of a
transfer study: open every target, attack the sources, score the targets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

from brittle.data import Dataset, case_ids
from brittle.edits import patch
from brittle.errors import Interrupted, StoreError, UsageError, message_of
from brittle.formatting import plural
from brittle.opening import as_target
from brittle.results import has_adversary
from brittle.runs.runner import attack as run_attack
from brittle.safety import files
from brittle.studies.pool_tasks import is_portable, models_in, train_name
from brittle.studies.pools import Member
from brittle.studies.transfer.scoring import (
    columns_of,
    fields_of,
    label_texts,
    pack_texts,
    unpack_texts,
)
from brittle.targets.protocols import declared_by
from brittle.workflow.running import throttle
from brittle.workflow.tasks import Task, TaskContext, slug, stored_as

TaskResult = dict[str, Any]
TEXTS = "texts"


def open_name(spec: str) -> str:
    """Name the task that opens a target."""
    return f"open {spec}"


def attack_name(spec: str) -> str:
    """Name the task that attacks a source."""
    return f"attack {spec}"


class NotOpened(UsageError):
    """The target of a task could not be opened; the reason has been told already."""


def names_failure(function: Callable[..., TaskResult]) -> Callable[..., TaskResult]:
    """Turn an error of a member into a result, so that the rest of the study goes on."""

    @wraps(function)
    def guarded(self: Any, context: TaskContext, **arguments: Any) -> TaskResult:
        try:
            return function(self, context, **arguments)
        except (Interrupted, StoreError):
            raise
        except Exception as error:  # a target is code of others, and may raise anything
            reason = message_of(error)
            is_known = isinstance(error, NotOpened)
            # The whole reason stands with the tables of the study.
            first = reason.splitlines()[0]
            message = "left out: it could not be opened" if is_known else f"failed: {first}"
            return {"failed": reason, "message": message}

    return guarded


@dataclass(frozen=True)
class MemberTasks:
    """The functions of the tasks; `live` holds targets of this process, by their specs."""

    live: Mapping[str, Any] = field(default_factory=dict)

    def keep_texts(self, context: TaskContext, *, texts: TaskResult) -> TaskResult:
        """Return the texts, which the other tasks need."""
        count = plural(len(texts["examples"]), ("text is", "texts are"))
        return texts | {"message": f"{count} attacked"}

    @names_failure
    def open_member(self, context: TaskContext, *, spec: str, contents: str | None) -> TaskResult:
        """Open a target once, and return its labels; a failure to train it is one to open it.

        `contents` is a digest of the files that the spec names, so that new ones are noticed.
        """
        for name in context.needs:
            succeeded(context, name)
        with self.opened(context, spec) as target:
            if not declared_by(target, "labels"):
                raise UsageError(f"The target {spec!r} has no labels. Name a classifier.")
            return {"labels": list(target.labels), "fingerprint": target.fingerprint}

    @names_failure
    def attack_member(
        self,
        context: TaskContext,
        *,
        spec: str,
        attack: str,
        settings: Mapping[str, Any],
        seed: int,
        files: Mapping[str, str] | None = None,
    ) -> TaskResult:
        """Attack a source on all texts; return its winners in the order of the texts.

        `files` are the digests of files that the settings name: new contents are a new attack.
        """
        opened = succeeded(context, open_name(spec))
        dataset = unpack_texts(context.needs[TEXTS])
        report_seldom = throttle(context.report)

        def report(progress: Any) -> None:
            broken = progress.counts.get("broken", 0)
            report_seldom(
                f"{progress.done:,} of {plural(progress.planned, 'texts')}, {broken:,} broken"
            )

        with self.opened(context, spec) as target:
            run = run_attack(
                target,
                dataset,
                attack,
                seed=seed,
                name=context.unique_name,
                folder=context.folder,
                progress=report,
                about_target={} if spec in self.live else {"spec": spec},
                **settings,
            )
        winners = [
            [
                row.case,
                opened["labels"].index(row.label),
                list(patch(dict(row.fields), row.edits).items()),
            ]
            for row in run.as_stored().results()
            if has_adversary(row)
        ]
        return {
            "run": run.path.name,
            "winners": winners,
            "warnings": run.manifest["warnings"],
            "message": f"{plural(len(winners), 'winners')} of {plural(len(dataset), 'texts')}",
        }

    @names_failure
    def score_member(
        self,
        context: TaskContext,
        *,
        spec: str,
        sources: Sequence[str],
        winners: int,
        all_originals: bool,
        memory: str,
    ) -> TaskResult:
        """Return the labels of the originals by case, and those of every source's winners.

        A source without winners is left out. Without `all_originals` only those of winners count.
        """
        succeeded(context, open_name(spec))
        dataset = unpack_texts(context.needs[TEXTS])
        originals = dict(zip(case_ids(dataset.examples), (e.fields for e in dataset.examples)))
        attacked = {source: context.needs[attack_name(source)] for source in sources}
        chosen = {
            s: result["winners"][:winners] for s, result in attacked.items() if "run" in result
        }
        if not all_originals:
            won = {case for rows in chosen.values() for case, _, _ in rows}
            originals = {case: fields for case, fields in originals.items() if case in won}
        texts = [*originals.values()]
        texts += [fields_of(fields) for rows in chosen.values() for _, _, fields in rows]
        file = context.folder / memory
        with self.opened(context, spec) as target:
            labels = label_texts(target, texts, file, throttle(context.report))
        rest = iter(labels[len(originals) :])
        return {
            "before": dict(zip(originals, labels)),
            "after": {source: [next(rest) for _ in rows] for source, rows in chosen.items()},
            "message": f"labels of {plural(len(texts), 'texts')}",
        }

    @contextmanager
    def opened(self, context: TaskContext, spec: str) -> Iterator[Any]:
        """Open a target, and close it in the end; a live one stays as it is."""
        if spec in self.live:
            yield self.live[spec]
            return
        fields = tuple(name for name, _ in context.needs[TEXTS]["examples"][0][0])
        report = throttle(context.report)
        target: Any = as_target(
            spec,
            fields=fields,
            progress=lambda state: report(str(state)),
            columns=columns_of(context.needs[TEXTS]),
        )
        try:
            yield target
        finally:
            if hasattr(target, "close"):
                target.close()


def run_files(folder: Path, result: TaskResult) -> list[Path]:
    """Return the file of the run of an attack task; a failed one has none."""
    return [folder / result["run"]] if "run" in result else []


def succeeded(context: TaskContext, name: str) -> TaskResult:
    """Return the result of a task that is needed; its failure is a failure here too."""
    result: TaskResult = context.needs[name]
    if "failed" in result:
        raise NotOpened(result["failed"])
    return result


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


@stored_as("brittle.studies.transfer.tasks:reads_files_of_this_machine")
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
