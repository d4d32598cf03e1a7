"""What all papers read from the results of their tasks: runs, rows and accuracies.

A run as if its goal had asked for less confidence: which cases reached it, at which step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from brittle.asks import NO_CANDIDATES
from brittle.edits import characters_changed, patch, words_changed
from brittle.goals import is_reached
from brittle.metrics.paired import Contrast, contrast, paired
from brittle.metrics.summary import ATTACKED, Figure, rate, summary
from brittle.results import Result, Step
from brittle.runs.run import Run
from brittle_papers.spec import PaperRequest
from brittle_papers.tasks import open_task_run


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


@dataclass(frozen=True)
class PaperResults:
    """The results of a paper's tasks by task name, and the folder with their files."""

    request: PaperRequest
    folder: Path
    results: Mapping[str, Any]

    def __getitem__(self, task: str) -> Any:
        """Return the result of a task, for an attack with the manifest of its run."""
        result = self.results[task]
        return {**result, **self.run(task).manifest} if "run" in result else result

    def run(self, task: str) -> Run:
        """Open the run of an attack task."""
        return open_task_run(self.folder, self.results[task])

    def rows(self, task: str) -> list[Result]:
        """Return the rows of an attack task, which are loaded once.

        A text in which an attack may edit nothing counts as held here: a paper's success is over
        all texts that a model had right, and stricter constraints must not shrink that number.
        """
        if task not in self._rows:
            self._rows[task] = [
                replace(row, status="held") if row.reason == NO_CANDIDATES else row
                for row in self.run(task).results()
            ]
        return self._rows[task]

    @cached_property
    def _rows(self) -> dict[str, list[Result]]:
        return {}

    def rows_at(self, task: str, confidence: float, asked: float) -> list[Result]:
        """Return the rows of an attack that asked for `asked` as if it had asked for less."""
        if (task, confidence) not in self._rows_at:
            steps = self.run(task).steps()
            rows = at_confidence(self.rows(task), steps, confidence, asked)
            self._rows_at[task, confidence] = rows
        return self._rows_at[task, confidence]

    @cached_property
    def _rows_at(self) -> dict[tuple[str, float], list[Result]]:
        return {}

    def success(self, task: str) -> Figure:
        """Compute the success of an attack task, over the attacked cases."""
        return summary(self.rows(task)).success

    def compare_success(self, a: str, b: str) -> Contrast:
        """Compare the success of attack task b with that of attack task a, case by case."""
        return paired(self.rows(a), self.rows(b)).success

    def is_right(self, task: str) -> list[bool]:
        """Return, for every text of a score task, whether the target was right."""
        return [bit == "1" for bit in self.results[task]["right"]]

    def accuracy(self, task: str) -> Figure:
        """Compute the accuracy in a score task."""
        is_right = self.is_right(task)
        return rate(sum(is_right), len(is_right), "examples answered")

    def error(self, task: str) -> Figure:
        """Compute the error in a score task."""
        is_right = self.is_right(task)
        return rate(len(is_right) - sum(is_right), len(is_right), "examples answered")

    def compare_accuracy(self, a: str, b: str) -> Contrast:
        """Compare the accuracy in score task b with that in score task a, text by text."""
        return contrast(list(zip(self.is_right(a), self.is_right(b), strict=True)))
