"""What all papers read from the results of their tasks: runs, rows and accuracies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from brittle.asks import NO_CANDIDATES
from brittle.metrics.paired import Contrast, contrast, paired
from brittle.metrics.summary import Figure, rate, summary
from brittle.results import Result
from brittle.runs.run import Run
from brittle_papers.reached import at_confidence
from brittle_papers.request import PaperRequest
from brittle_papers.tasks import open_task_run


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
