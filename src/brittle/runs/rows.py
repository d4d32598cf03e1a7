"""From the engine's outcomes, which know nothing of texts, to rows that people read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from brittle.answers import AnswerColumns
from brittle.engine.running import Improvement, ItemKept, Outcome
from brittle.goals.constraints import Answers
from brittle.goals.parsing import goal_name
from brittle.results import KeptItem, Result, Step
from brittle.runs.job import Job
from brittle.runs.measuring import Values

FinishedRows = tuple[Sequence[Result], Sequence[Step]]
"""The rows of finished cases and of their improvements."""
UNCHANGED = {"words_changed": 0, "characters_changed": 0}


def rows_of(ended: Sequence[Outcome], job: Job, answers: Answers | None = None) -> FinishedRows:
    """Build the rows of cases that ended in one round; `answers` are those of helpers, to measure.

    Without them, nothing is measured.
    """
    values = {} if answers is None else job.measuring.values(ended, answers)
    steps = [step for outcome in ended for step in steps_of(outcome, job, values)]
    return [result_of(outcome, job, values) for outcome in ended], steps


def result_of(outcome: Outcome, job: Job, values: Values = MappingProxyType({})) -> Result:
    """Build the row of a finished case."""
    case, best = outcome.case, outcome.best
    fields, original = job.kind.original(case.item)
    changes = None if best is None else job.kind.changes(case.item, best.item)
    before = AnswerColumns() if case.start is None else columns_of(case.start.answers[0], job)
    after = AnswerColumns() if best is None else columns_of(best.payload, job)
    measured: dict[str, Any] = UNCHANGED | dict({} if changes is None else changes.measures)
    measured |= {} if best is None else values.get((case.id, best.query), {})
    return Result(
        case=case.id,
        attack=job.attack_name,
        target=job.target.name,
        goal=goal_name(job.goal, job.toward, case.keyword),
        status=outcome.status,
        reason=outcome.reason,
        fields=fields,
        original=original,
        adversarial=None if changes is None else changes.adversarial,
        edits=() if changes is None else changes.edits,
        label=None if case.label is None else job.labels[case.label],
        predicted=before.label,
        confidence=before.confidence,
        adversarial_label=after.label,
        adversarial_confidence=after.confidence,
        queries=outcome.queries,
        words=len(case.item) if "words" in job.kind.measures else 0,
        seed=job.seed,
        answer=before.text,
        adversarial_answer=after.text,
        reference=case.reference,
        cost=_cost(best) if best is not None and outcome.status == "broken" else None,
        tried=outcome.tried,
        won=outcome.won,
        kept=tuple(kept_item(kept, job) for kept in outcome.kept_items),
        proved_words=_proved_words(outcome, job),
        single_swaps=outcome.single_swaps,
        level=None if best is None else best.level,
        levels=tuple(outcome.levels.items()),
        random_edits=None if outcome.random_edits is None else outcome.random_edits[0],
        random_won=None if outcome.random_edits is None else outcome.random_edits[1],
        **measured,
    )


def _cost(step: Improvement) -> float | None:
    """Return what a search says that a winner costs; the rank of a level is no such cost."""
    return None if step.level is not None else step.cost


def _proved_words(outcome: Outcome, job: Job) -> int | None:
    """Return what a search noted as proved.

    That a single swap suffices was measured by a question that no constraint is held against: where
    there are constraints, it is not known.
    """
    has_constraints = bool(job.measuring.constraints)
    return None if has_constraints and not outcome.proved_words else outcome.proved_words


def kept_item(kept: ItemKept, job: Job) -> KeptItem:
    """Build what is stored of an item that a search kept for the report."""
    answer = AnswerColumns() if kept.payload is None else columns_of(kept.payload, job)
    _, item = job.kind.original(kept.item)
    return KeptItem(kept.name, item, kept.cost, answer.label, answer.confidence, answer.text)


def columns_of(answer: Any, job: Job) -> AnswerColumns:
    """Return what is shown of an answer."""
    return job.goal.answers.columns(answer, job.labels)


def steps_of(outcome: Outcome, job: Job, values: Values = MappingProxyType({})) -> Iterator[Step]:
    """Yield the rows of a case's improvements."""
    for step in outcome.steps:
        label, confidence, text = columns_of(step.payload, job)
        edits = job.kind.edits(outcome.case.item, step.item)
        rest = (step.query, step.loss, label, confidence, edits, text, _cost(step))
        measured: Mapping[str, Any] = values.get((outcome.case.id, step.query), {})
        yield Step(outcome.case.id, *rest, **measured)
