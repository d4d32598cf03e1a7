"""What the steps of HotFlip have left, as rows and figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from brittle.metrics.operations import Operations, operations
from brittle.metrics.paired import Contrast, contrast, paired
from brittle.metrics.summary import Figure, rate, summary
from brittle.papers.hotflip.plan import ATTACKS, CONFIDENCE, MODELS
from brittle.papers.order import PaperResults
from brittle.papers.page import error_rate
from brittle.papers.tasks import open_task_run
from brittle.results import Result, Step
from brittle.studies.reached import at_confidence

THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)


class Found:
    """What the steps of the paper have left, read once."""

    def __init__(self, made: PaperResults) -> None:
        self.made = made

    def result(self, task: str) -> Any:
        return self.made.results[task]

    def rows(self, task: str) -> list[Result]:
        return open_task_run(self.made.folder, self.result(task)).results()

    @cached_property
    def first(self) -> Mapping[str, tuple[list[Result], list[Step]]]:
        """The rows and steps of the attacks of Figure 1."""
        runs = {name: open_task_run(self.made.folder, self.result(name)) for name in ATTACKS}
        return {name: (run.results(), run.steps()) for name, run in runs.items()}

    def at(self, attack: str, confidence: float) -> list[Result]:
        return at_confidence(*self.first[attack], confidence, CONFIDENCE)

    def success(self, attack: str, confidence: float) -> Figure:
        return summary(self.at(attack, confidence)).success

    def paired(self, a: str, b: str, confidence: float) -> Contrast:
        """Compare the success of attack b with that of attack a, case by case."""
        return paired(self.at(a, confidence), self.at(b, confidence)).success

    @cached_property
    def flips(self) -> Mapping[str, list[Result]]:
        """The rows of Table 2 by model."""
        return {model: self.rows(f"flips {model}") for model in MODELS}

    def error(self, model: str) -> Figure:
        bits = self.result(f"clean {model}")["right"]
        return error_rate(rate(bits.count("1"), len(bits), "examples answered"))

    def errors(self, a: str, b: str) -> Contrast:
        """Compare the clean error of model b with that of model a, text by text."""
        bits = zip(*(self.result(f"clean {model}")["right"] for model in (a, b)))
        return contrast([(x == "0", y == "0") for x, y in bits])

    def hardened(self, a: str, b: str) -> Contrast:
        """Compare the success of the attack on model b with that on model a."""
        return paired(self.flips[a], self.flips[b]).success

    @cached_property
    def used(self) -> Operations:
        """The operations that reached confidence 0.5."""
        return operations(self.at("beam", 0.5))

    @cached_property
    def flipped(self) -> Figure:
        """The share of flips among these."""
        return rate(self.used.flips, self.used.total, "operations")

    @cached_property
    def lost(self) -> Figure:
        """The share of edited words that are no longer near the word they were."""
        changes = self.result("nearest")["changes"]
        lost = sum(change["is_lost"] for change in changes)
        return rate(lost, len(changes), "edited words")
