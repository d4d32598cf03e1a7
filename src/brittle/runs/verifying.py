"""Ask a target again about what broke it: does it still?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brittle.answers import SCORES, AnswerColumns, find_label
from brittle.asks import ANSWER, Case
from brittle.engine.desks import Desk
from brittle.engine.judging import judge_alone, start_case
from brittle.errors import GateFailed
from brittle.formatting import plural
from brittle.goals import Goal
from brittle.goals.classes import is_class_goal
from brittle.goals.parsing import check_goal, draws_keywords, rebuild_goal
from brittle.kinds import kind_named
from brittle.results import Result, has_adversary
from brittle.targets.capabilities import answers_of, make_desks
from brittle.targets.protocols import declared_by

MAX_FAILURES_SHOWN = 20


@dataclass(frozen=True)
class Recheck:
    """A broken case that was asked again: the new answer, and whether it still reaches the goal."""

    row: Result
    now: AnswerColumns
    still_wins: bool

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        answer = {"confidence": self.now.confidence, "answer": self.now.text}
        about = {"case": self.row.case, "label": self.row.label, "predicted": self.now.label}
        return about | answer | {"wins": self.still_wins}


def describe_rechecks(checked: Sequence[Recheck]) -> Iterator[str]:
    """Yield how many adversaries still break the target, and some of those that do not."""
    failed = [check for check in checked if not check.still_wins]
    cases = plural(len(checked), "broken cases")
    yield f"{len(checked) - len(failed)} of {cases} still break."
    for check in failed[:MAX_FAILURES_SHOWN]:
        now = check.now.text if check.now.label is None else f"predicted {check.now.label}"
        yield f"  {check.row.case} is now {now}"


def require_all(checked: Sequence[Recheck]) -> None:
    """Fail if an adversary no longer breaks the target."""
    failed = sum(not check.still_wins for check in checked)
    if failed:
        raise GateFailed(f"{failed} of {plural(len(checked), 'broken cases')} no longer break.")


def recheck(
    manifest: Mapping[str, Any], rows: Sequence[Result], target: Any, goal: Goal | None = None
) -> Iterator[Recheck]:
    """Ask about the adversary of every broken case again, alone, and judge it by the run's goal.

    A goal that looks at the answer on the original gets that of the run; if it is not known, or the
    target is another one, the original is asked again too.
    """
    locked = manifest.get("locked", [])
    kind, toward = kind_named(manifest.get("kind", "text")), manifest.get("toward")
    labels, answers = tuple(declared_by(target, "labels")), answers_of(target)
    limits = (toward, manifest.get("confidence"), answers, labels)
    goal = goal or rebuild_goal(manifest["goal"], *limits)
    draws = draws_keywords(goal)
    check_goal(goal, answers, target.name, toward, labels)
    desk = make_desks(target)[ANSWER]
    is_same = target.fingerprint == manifest.get("fingerprint")
    needs_start = not is_class_goal(manifest["goal"])
    for row in rows:
        if not has_adversary(row):
            continue
        if draws:  # the row names the keyword that was drawn for its case
            goal = rebuild_goal(row.goal, *limits)
        original = kind.item(dict(row.fields), locked)
        case: Case[Any] = Case(row.case, original, reference=row.reference)
        if answers == SCORES:
            case = replace(case, label=_index(row.label, labels), toward=_index(toward, labels))
        if needs_start:
            known = row.answer if is_same else None
            start = _ask(desk, original) if known is None else known
            case, _ = start_case(goal, case, start)
        adversary = kind.adversary(row, locked)
        answer = _ask(desk, adversary)
        _, won = judge_alone(goal, case, adversary, answer)
        yield Recheck(row, goal.answers.columns(answer, labels), won)


def _ask(desk: Desk, item: Any) -> Any:
    """Ask about one item by the desk's own function, which checks what comes back."""
    keys = list(desk.canonical([item])) if desk.canonical and desk.from_keys else [item]
    (answer,) = desk.compute(keys)
    return answer


def _index(label: str | None, labels: Sequence[str]) -> int:
    """Return the index of a label; −1, which is no class, if the target does not have it."""
    number = None if label is None else find_label(label, labels)
    return -1 if number is None else number
