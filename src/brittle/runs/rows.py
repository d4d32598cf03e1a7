"""From the engine's outcomes, which know nothing of text, to rows that people read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from brittle.edits import characters_changed, diff, words_changed
from brittle.engine.outcomes import Outcome
from brittle.results import Result, Step
from brittle.runs.job import Job
from brittle.text import Text


def result_of(outcome: Outcome, job: Job) -> Result:
    case, labels = outcome.case, job.target.labels
    text: Text = case.text
    fields = text.fields()
    best = outcome.best
    edits = diff(text, best.item) if best is not None else ()
    start = None if case.start is None else case.start.answers[0]
    return Result(
        case=case.id,
        attack=job.attack_name,
        target=job.target.name,
        goal=job.goal_name,
        status=outcome.status,
        reason=outcome.reason,
        fields=tuple(fields.items()),
        original="\n".join(fields.values()),
        adversarial=None if best is None else best.item.render(),
        edits=edits,
        label=None if case.label is None else labels[case.label],
        predicted=None if start is None else labels[int(start.argmax())],
        confidence=None if start is None else float(start.max()),
        adversarial_label=None if best is None else labels[int(np.argmax(best.payload))],
        adversarial_confidence=None if best is None else float(np.max(best.payload)),
        queries=outcome.queries,
        words=len(text),
        words_changed=words_changed(edits),
        characters_changed=characters_changed(edits),
        seed=job.seed,
    )


def steps_of(outcome: Outcome, labels: Sequence[str]) -> Iterator[Step]:
    for step in outcome.steps:
        yield Step(
            outcome.case.id,
            step.query,
            step.loss,
            labels[int(np.argmax(step.payload))],
            float(np.max(step.payload)),
            diff(outcome.case.text, step.item),
        )
