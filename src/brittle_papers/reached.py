"""A run as if its goal had asked for less confidence: which cases reached it, at which step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from brittle.edits import characters_changed, patch, words_changed
from brittle.goals import is_reached
from brittle.metrics.summary import ATTACKED
from brittle.results import Result, Step


def at_confidence(
    results: Sequence[Result], steps: Iterable[Step], confidence: float, asked: float
) -> list[Result]:
    """Return the rows that a run would have had if its goal had asked for this confidence.

    An attacked case is broken by its first step with a wrong answer of that confidence; without
    such a step it held. `asked` is the confidence of the run's own goal, at least as high. A step
    that reaches `asked` counts only in a broken case, because elsewhere it was not confirmed.
    """
    rows = {row.case: row for row in results}
    first: dict[str, Step] = {}
    for step in steps:
        row = rows.get(step.case)
        if row is None or step.case in first or row.status not in ATTACKED:
            continue
        sure = step.confidence or 0.0
        confirmed = sure < asked or row.status == "broken"
        is_wrong = is_reached(step.label, row.label, None)
        if is_wrong and sure >= confidence and confirmed:
            first[step.case] = step
    return [_row_at(row, first.get(row.case)) for row in results]


def _row_at(row: Result, step: Step | None) -> Result:
    if row.status not in ATTACKED or (step is None and row.status == "broken"):
        return row
    if step is None:
        # What was proved of the run's own goal says nothing of one that asks for less.
        return replace(row, status="held", reason="", proved_words=None)
    return replace(
        row,
        status="broken",
        reason="",
        proved_words=None,
        adversarial="\n".join(patch(dict(row.fields), step.edits).values()),
        edits=step.edits,
        adversarial_label=step.label,
        adversarial_confidence=step.confidence,
        queries=step.query,
        words_changed=words_changed(step.edits),
        characters_changed=characters_changed(step.edits),
    )
