"""Train what is missing of a pool; what is trained is found in the cache, and so it resumes."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from brittle.errors import BrittleError
from brittle.studies.pool_tasks import find_member, models_in, train_tasks, zoo_specs
from brittle.studies.pools import Pool
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import FAILED
from brittle.zoo.folder import load_card
from brittle.zoo.model_cache import models_folder
from brittle.zoo.names.parsing import split_name

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
    force: bool = False,
    backend: Workers | None = None,
    progress: Progress = lambda states, changed: None,
) -> list[MemberState]:
    """Train the models of a pool that are not in the cache, or all if forced; return their states.

    One that fails has its reason, and the others are trained all the same.
    """
    before = find_states(pool, text, label)
    is_there = {state.spec for state in before if state.folder and not force}
    options: dict[str, Any] = {"text": text, "label": label, "device": device, "force": force}
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
