"""What HotFlip's page reads from the results of its tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from brittle.metrics.operations import Operations, operations
from brittle.metrics.paired import Contrast, contrast, paired
from brittle.metrics.summary import Figure, rate, summary
from brittle.papers.hotflip.plan import ATTACKS, BEAM, CLEAN, CONFIDENCE, FLIPS, NEAREST
from brittle.papers.results import PaperResults
from brittle.results import Result, Step
from brittle.studies.reached import at_confidence

THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The confidences at which Figure 1 is read."""


@dataclass(frozen=True)
class HotFlipResults(PaperResults):
    """The results of HotFlip's tasks, with the figures that more than one part of the page uses."""

    @cached_property
    def figure_1(self) -> Mapping[str, tuple[list[Result], list[Step]]]:
        """The rows and steps of the attacks of Figure 1."""
        return {name: (self.rows(name), self.run(name).steps()) for name in ATTACKS}

    def rows_at(self, attack: str, confidence: float) -> list[Result]:
        """Return the rows of an attack of Figure 1 as if it had asked for this confidence."""
        return at_confidence(*self.figure_1[attack], confidence, CONFIDENCE)

    def success(self, attack: str, confidence: float) -> Figure:
        return summary(self.rows_at(attack, confidence)).success

    def compare_success(self, a: str, b: str, confidence: float) -> Contrast:
        """Compare the success of attack b with that of attack a, case by case."""
        return paired(self.rows_at(a, confidence), self.rows_at(b, confidence)).success

    def error(self, model: str) -> Figure:
        """Compute the error on clean texts, from the accuracy."""
        right = self.accuracy(CLEAN[model])
        wrong = right.of - (right.count or 0)
        low, high = 1 - (right.high or 0.0), 1 - (right.low or 0.0)
        return Figure(wrong / right.of, low, high, wrong, right.of, right.over)

    def compare_error(self, a: str, b: str) -> Contrast:
        """Compare the error of model b on clean texts with that of model a, text by text."""
        pairs = zip(self.is_right(CLEAN[a]), self.is_right(CLEAN[b]), strict=True)
        return contrast([(not x, not y) for x, y in pairs])

    def compare_flips(self, a: str, b: str) -> Contrast:
        """Compare the success of the flips of Table 2 on model b with that on model a."""
        return paired(self.rows(FLIPS[a]), self.rows(FLIPS[b])).success

    @cached_property
    def beam_operations(self) -> Operations:
        """The operations with which the beam search reached confidence 0.5."""
        return operations(self.rows_at(BEAM, 0.5))

    @cached_property
    def flip_share(self) -> Figure:
        """The share of flips among these operations."""
        return rate(self.beam_operations.flips, self.beam_operations.total, "operations")

    @cached_property
    def lost_share(self) -> Figure:
        """The share of edited words whose original is no longer among the nearest words."""
        changes = self.results[NEAREST]["changes"]
        return rate(sum(change["is_lost"] for change in changes), len(changes), "edited words")
