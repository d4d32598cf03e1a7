"""The trainings of a pool, as tasks and side by side.

There is a task for each model of the zoo; one that fails does not stop the rest. What is trained is
found in the cache, and so a training resumes.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from brittle.errors import BrittleError, message_of
from brittle.safety import files
from brittle.studies.pools import Member, Pool
from brittle.training import find, train
from brittle.training.elmo import bilm_name
from brittle.training.job import TrainingProgress
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import FAILED, Task, TaskContext
from brittle.zoo.bilm import needed_folders
from brittle.zoo.folder import load_card, models_folder
from brittle.zoo.names import grid
from brittle.zoo.names.parsing import SIZE_SETTING, find_listed, parse, parse_members, split_name

ZOO, ENSEMBLE = "zoo:", "ensemble:"


def train_name(spec: str) -> str:
    """Name the task that trains a model."""
    return f"train {spec}"


def train_tasks(specs: Sequence[str], **options: Any) -> list[Task]:
    """Build a task for each model of the zoo; `options` are those of `train_member`, for all.

    A language model that several of them read is a task of its own, before them.
    """
    shared = {spec: bilm_spec(spec) for spec in specs}
    tasks = [_train_task(spec, ()) for spec in dict.fromkeys(filter(None, shared.values()))]
    for spec in specs:
        needs = (train_name(shared[spec]),) if shared[spec] else ()
        tasks.append(_train_task(spec, needs, **options))
    return tasks


def _train_task(spec: str, needs: tuple[str, ...], **options: Any) -> Task:
    arguments = {"spec": spec, **options, **_digests(spec)}
    return Task(
        *(train_name(spec), train_member, arguments, needs, model_folders),
        here=stays_here,
        may_fail=True,
    )


def bilm_spec(spec: str) -> str:
    """Return the spec of the language model that a model of the zoo reads, or nothing."""
    wanted = parse(spec)
    design = grid.design(split_name(wanted.source).model)
    name = bilm_name(design, grid.settings(design, wanted.size, **wanted.changed), wanted.size)
    return f"{ZOO}{name}" if name else ""


def zoo_specs(members: Iterable[Member]) -> list[str]:
    """Return the specs of the models that can be trained: of members first, then of twins.

    Those of an ensemble are the specs of its own members.
    """
    members = list(members)
    specs = [spec for member in members for spec in models_in(member.spec)]
    specs += [member.twin for member in members if member.twin]
    return list(dict.fromkeys(spec for spec in specs if spec.startswith(ZOO)))


def models_in(spec: str) -> tuple[str, ...]:
    """Return the spec itself, or those of the members of an ensemble."""
    is_ensemble = spec.startswith(ENSEMBLE)
    return parse_members(spec.removeprefix(ENSEMBLE)) if is_ensemble else (spec,)


def of_size(pool: Pool, size: str) -> Pool:
    """Return the pool with its models of the zoo in another size, unless a line names its own."""

    def resized(spec: str) -> str:
        if not spec.startswith(ZOO) or size == "default":
            return spec
        settings = split_name(spec).settings
        if any(setting.startswith(f"{SIZE_SETTING}=") for setting in settings):
            return spec
        return f"{spec}{',' if settings else '?'}{SIZE_SETTING}={size}"

    members = tuple(
        replace(member, spec=resized(member.spec), twin=member.twin and resized(member.twin))
        for member in pool.members
    )
    return replace(pool, members=members)


def find_member(
    spec: str, text: Sequence[str] | None = None, label: str | None = None
) -> Path | None:
    """Return the folder of a member that is trained, or None."""
    wanted = parse(spec)
    options: dict[str, Any] = {"size": wanted.size, "changed": wanted.changed}
    model = (wanted.source, wanted.data, wanted.seed)
    return find_listed(wanted) or find(*model, text=text, label=label, **options)


def stays_here(
    context: TaskContext,
    *,
    spec: str,
    text: Sequence[str] | None = None,
    label: str | None = None,
    new: bool = False,
    **others: Any,
) -> bool:
    """Tell whether a model is not to be trained elsewhere: it is there, or its data is a file."""
    return not is_portable(spec) or not (new or find_member(spec, text, label) is None)


def is_portable(spec: str) -> bool:
    """Tell whether another machine can open a spec, once the models of the zoo are sent to it."""
    return all(
        model.startswith(ZOO) and not files.is_path(parse(model).data) for model in models_in(spec)
    )


def train_member(
    context: TaskContext,
    *,
    spec: str,
    text: Sequence[str] | None = None,
    label: str | None = None,
    device: str = "auto",
    new: bool = False,
    digests: Any = None,
) -> dict[str, Any]:
    """Train a model of the zoo that is not in the cache; its card decides the result.

    A model that cannot be trained has the result {"failed": reason}, and is tried again next time.
    `digests` are those of a file of data: with another content it is another task.
    """
    try:
        folder = None if new else find_member(spec, text, label)
        if folder is None:
            wanted = parse(spec)
            folder = train(
                *(wanted.source, wanted.data, wanted.seed),
                device=device,
                size=wanted.size,
                changed=wanted.changed,
                text=text,
                label=label,
                progress=lambda progress: _report(context, progress),
                new=new,
            )
        card = load_card(folder)
    except Exception as error:  # whatever it is, it is the reason of this member alone
        reason = message_of(error)
        return {FAILED: reason, "message": f"{FAILED}: {reason}"}
    accuracy = f", dev accuracy {card.dev_accuracy:.3f}" if card.dev_accuracy is not None else ""
    return {
        "folder": folder.name,
        "name": card.full_name,
        "fingerprint": card.fingerprint,
        "dev_accuracy": card.dev_accuracy,
        "epochs": card.epochs,
        "seconds": card.seconds,
        "message": f"trained{accuracy} in {card.seconds:.0f} s",
    }


def model_folders(folder: Path, result: dict[str, Any]) -> list[Path]:
    """Return the folders that the model of a train task needs; one that failed has none."""
    return [] if FAILED in result else needed_folders(models_folder() / result["folder"])


def _digests(spec: str) -> dict[str, Any]:
    digests = files.named_files({"data": parse(spec).data})
    return {"digests": digests} if digests else {}


def _report(context: TaskContext, progress: TrainingProgress) -> None:
    """Report the end of each epoch."""
    if progress.dev_accuracy is not None:
        context.report(str(progress).removeprefix(f"{progress.model}: "))


State = Literal["waiting", "training", "trained", "already there", "failed"]
MESSAGE = re.compile(
    r"(?P<note>epoch \d+/\d+|trained|failed: (?P<reason>.*))"
    r"(?:.*?dev accuracy (?P<accuracy>[\d.]+))?",
    re.DOTALL,
)


@dataclass(frozen=True)
class MemberState:
    """How far the training of one model of a pool is; `note` is its epoch, or why it failed."""

    member: str
    seed: int
    spec: str
    state: State = "waiting"
    dev_accuracy: float | None = None
    seconds: float | None = None
    folder: Path | None = None
    note: str = ""


Progress = Callable[[Sequence[MemberState], MemberState], None]
"""Receives the states of all models, and the one that changed."""


def find_states(
    pool: Pool, text: Sequence[str] | None = None, label: str | None = None
) -> list[MemberState]:
    """Return the states of the models of a pool, as the cache has them now."""
    names = {spec: m.name for m in pool.members for spec in models_in(m.spec)}
    names |= {member.twin: member.name for member in pool.members if member.twin}
    states = []
    for spec in zoo_specs(pool.members):
        state = MemberState(names[spec], split_name(spec).seed, spec)
        try:
            folder = find_member(spec, text, label)
        except BrittleError:  # its task will say why
            folder = None
        states.append(state if folder is None else _of_card(state, folder, "already there"))
    return states


def train_pool(
    pool: Pool,
    *,
    text: Sequence[str] | None = None,
    label: str | None = None,
    device: str = "auto",
    new: bool = False,
    backend: Workers | None = None,
    progress: Progress = lambda states, changed: None,
) -> list[MemberState]:
    """Train the models of a pool that are not in the cache, or all if `new`; return their states.

    One that fails has its reason, and the others are trained all the same.
    """
    before = find_states(pool, text, label)
    is_there = {state.spec for state in before if state.folder and not new}
    options: dict[str, Any] = {"text": text, "label": label, "device": device, "new": new}
    tasks = [
        task
        for task in train_tasks(zoo_specs(pool.members), **{k: v for k, v in options.items() if v})
        if task.arguments["spec"] not in is_there
    ]
    todo = [s if s.spec in is_there else MemberState(s.member, s.seed, s.spec) for s in before]
    table = _Table(todo, progress)
    # The cache of models holds all that is worth keeping, also of a training that was stopped.
    with tempfile.TemporaryDirectory() as folder:
        results = run_tasks(tasks, Path(folder), table.read_line, backend)
    by_spec = {task.arguments["spec"]: results[task.name] for task in tasks}
    return [_finished(state, by_spec.get(state.spec)) for state in table.states]


def _finished(state: MemberState, result: dict[str, Any] | None) -> MemberState:
    if result is None:
        return state
    if FAILED in result:
        return replace(state, state="failed", note=result[FAILED])
    return _of_card(state, models_folder() / result["folder"], "trained")


def _of_card(state: MemberState, folder: Path, how: State) -> MemberState:
    card = load_card(folder)
    return replace(
        state,
        state=how,
        dev_accuracy=card.dev_accuracy,
        seconds=card.seconds,
        folder=folder,
        note="",
    )


@dataclass
class _Table:
    """Follows the lines of a workflow, and keeps the state of each model."""

    states: list[MemberState]
    progress: Progress
    began: dict[str, float] = field(default_factory=dict)

    def read_line(self, line: str) -> None:
        """Read `[1 of 9 tasks done, 3 s] train SPEC: MESSAGE`."""
        rest = line.partition("] ")[2]
        for n, state in enumerate(self.states):
            start = f"train {state.spec}: "
            if rest.startswith(start):
                self.states[n] = self._changed(state, rest.removeprefix(start))
                self.progress(self.states, self.states[n])

    def _changed(self, state: MemberState, message: str) -> MemberState:
        began = self.began.setdefault(state.spec, time.monotonic())
        read = MESSAGE.match(message)
        if read is None:
            return replace(state, state="training")
        if read["reason"]:
            return replace(state, state="failed", note=read["reason"])
        is_trained = read["note"] == "trained"
        return replace(
            state,
            state="trained" if is_trained else "training",
            note="" if is_trained else read["note"],
            dev_accuracy=float(read["accuracy"]) if read["accuracy"] else None,
            seconds=time.monotonic() - began,
        )
