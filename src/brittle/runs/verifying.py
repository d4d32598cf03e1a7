"""Ask a target again about what broke it: does it still?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from brittle.answers import SCORES, AnswerColumns
from brittle.asks import ANSWER, Answer, Case
from brittle.goals import Goal, judge_one
from brittle.goals.parsing import check_goal, rebuild_goal
from brittle.kinds import kind_named
from brittle.results import Result
from brittle.targets.capabilities import answers_of, make_desks
from brittle.targets.labels import find_label


class Rows(Protocol):
    """What is needed of a run."""

    @property
    def manifest(self) -> dict[str, Any]: ...

    def results(self) -> list[Result]: ...


@dataclass(frozen=True)
class Recheck:
    """A broken case that was asked again: the new answer, and whether it still reaches the goal."""

    row: Result
    now: AnswerColumns
    still_wins: bool


def recheck(run: Rows, target: Any, goal: Goal | None = None) -> Iterator[Recheck]:
    """Ask about the adversary of every broken case again, alone, and judge it by the run's goal."""
    manifest = run.manifest
    kind = kind_named(manifest.get("kind", "text"))
    labels, answers = tuple(getattr(target, "labels", ())), answers_of(target)
    if goal is None:
        limits = (manifest.get("toward"), manifest.get("confidence"))
        goal = rebuild_goal(manifest["goal"], *limits, answers, labels)
    check_goal(goal, answers, target.name)
    ask = make_desks(target)[ANSWER]
    for row in run.results():
        if row.status != "broken" or row.adversarial is None:
            continue
        item = kind.adversary(row, manifest.get("locked", []))
        # By the desk's own function: it checks what comes back.
        keys = list(ask.canonical([item])) if ask.canonical and ask.from_keys else [item]
        (answer,) = ask.compute(keys)
        case = _stored_case(row, item, goal, labels, manifest.get("toward"))
        _, won = judge_one(goal, case, item, answer)
        yield Recheck(row, goal.answers.columns(answer, labels), won)


def _stored_case(
    row: Result, item: Any, goal: Goal, labels: Sequence[str], toward: str | None
) -> Case[Any]:
    """Build the case of a row again, as far as a goal looks at it."""
    if goal.answers is SCORES:
        return Case(row.case, item, _index(row.label, labels), _index(toward, labels))
    start = Answer([row.answer], np.zeros(1), np.zeros(1, dtype=bool))
    return Case(row.case, item, start=start, reference=row.reference)


def _index(label: str | None, labels: Sequence[str]) -> int:
    """Return the index of a label; −1, which is no class, if the target does not have it."""
    number = None if label is None else find_label(label, labels)
    return -1 if number is None else number
