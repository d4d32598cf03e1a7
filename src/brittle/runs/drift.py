"""Targets that change: originals are asked again after a run, and what broke is verified.

After a run: a few originals are asked again, since a target behind a network can change.

Ask a target again about what broke it: does it still?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brittle.answers import SCORES, AnswerColumns, find_label
from brittle.asks import ANSWER, Case
from brittle.engine.broker import Broker
from brittle.engine.desks import Desk
from brittle.engine.rounds import judge_alone, start_case
from brittle.errors import GateFailed, RunStopped
from brittle.formatting import label_in_words, plural
from brittle.goals import Goal
from brittle.goals.classes import is_class_goal
from brittle.goals.parsing import check_goal, draws_keywords, rebuild_goal
from brittle.kinds import kind_named
from brittle.results import Result, has_adversary
from brittle.runs.job import Job
from brittle.runs.store import Store
from brittle.targets.capabilities import answers_of, make_desks
from brittle.targets.diagnosis.classifier import changed
from brittle.targets.diagnosis.samples import COSTLY_REPEATS
from brittle.targets.diagnosis.translator import changed_texts
from brittle.targets.protocols import declared_by


def ask_again(store: Store, broker: Broker, job: Job) -> str | None:
    """Ask the first originals of a costly target once more; warn if its answers have changed.

    These are at most 4 texts more. They are counted as sent, and stay within --max-sent.
    """
    if not declared_by(job.target, "costly"):
        return None
    room = None if broker.most_sent is None else max(0, broker.most_sent - broker.totals.sent)
    count = COSTLY_REPEATS if room is None else min(COSTLY_REPEATS, room)
    rows = [r for r in store.results() if (r.predicted or r.answer) is not None][:count]
    locked = store.manifest.get("locked", [])
    # Without the journal, which would repeat the answers that it holds.
    asker = replace(broker, journal=None)
    try:
        items = [job.kind.item(dict(row.fields), locked) for row in rows]
        answers, failures = asker.alone(ANSWER, items)
    except RunStopped as error:
        return (
            "The target could not be asked about the originals again at the end of the run: "
            f"{error}"
        )
    finally:
        asker.close()
    answered = [(row, answers[n]) for n, row in enumerate(rows) if n not in failures]
    return _changes(answered, job)


def _changes(answered: list[tuple[Result, Any]], job: Job) -> str | None:
    """Return a warning if answers differ from those in the rows."""
    if job.goal.answers == SCORES:
        labels = list(job.labels)
        pairs = [
            (labels.index(str(row.predicted)), float(row.confidence or 0.0), answer)
            for row, answer in answered
        ]
        warning = changed(pairs, job.target.name)
    else:
        warning = changed_texts([(r.answer, answer) for r, answer in answered], job.target.name)
    return None if warning is None else warning.message


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
        now = (
            check.now.text
            if check.now.label is None
            else f"predicted {label_in_words(check.now.label)}"
        )
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
