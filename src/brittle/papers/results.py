"""What all papers read from the results of their tasks: runs, rows and accuracies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from brittle.metrics.paired import Contrast, contrast
from brittle.metrics.summary import Figure, rate
from brittle.papers.request import PaperRequest
from brittle.papers.tasks import open_task_run
from brittle.results import Result
from brittle.runs.run import Run


@dataclass(frozen=True)
class PaperResults:
    """The results of a paper's tasks by task name, and the folder with their files."""

    request: PaperRequest
    folder: Path
    results: Mapping[str, Any]

    def run(self, task: str) -> Run:
        """Open the run of an attack task."""
        return open_task_run(self.folder, self.results[task])

    def rows(self, task: str) -> list[Result]:
        """Return the rows of an attack task, which are loaded once."""
        if task not in self._rows:
            self._rows[task] = self.run(task).results()
        return self._rows[task]

    @cached_property
    def _rows(self) -> dict[str, list[Result]]:
        return {}

    def is_right(self, task: str) -> list[bool]:
        """Return, for every text of a score task, whether the target was right."""
        return [bit == "1" for bit in self.results[task]["right"]]

    def accuracy(self, task: str) -> Figure:
        """Compute the accuracy in a score task."""
        is_right = self.is_right(task)
        return rate(sum(is_right), len(is_right), "examples answered")

    def compare_accuracy(self, a: str, b: str) -> Contrast:
        """Compare the accuracy in score task b with that in score task a, text by text."""
        return contrast(list(zip(self.is_right(a), self.is_right(b), strict=True)))
