"""What HotFlip's page reads from the results of its tasks."""

from __future__ import annotations

from dataclasses import dataclass

from brittle.metrics.operations import Operations, operations
from brittle.metrics.paired import Contrast, paired
from brittle.metrics.summary import Figure, mean, rate, summary
from brittle.results import Result
from brittle_papers.hotflip.plan import BEAM, CONFIDENCE, ESTIMATES, NEAREST, NEIGHBOURS
from brittle_papers.results import PaperResults

CONFIDENCES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The confidences at which Figure 1 is read."""


@dataclass(frozen=True)
class HotFlipResults(PaperResults):
    """The results of HotFlip's tasks, with the figures that more than one part of the page uses."""

    def reached(self, attack: str, confidence: float = CONFIDENCE) -> list[Result]:
        """Return the rows of an attack as if it had asked for this confidence."""
        return self.rows_at(attack, confidence, CONFIDENCE)

    def success_at(self, attack: str, confidence: float = CONFIDENCE) -> Figure:
        return summary(self.reached(attack, confidence)).success

    def compare_at(self, a: str, b: str, confidence: float = CONFIDENCE) -> Contrast:
        """Compare the success of attack b with that of attack a, case by case."""
        return paired(self.reached(a, confidence), self.reached(b, confidence)).success

    def operations(self, attack: str = BEAM) -> Operations:
        """Count the operations with which an attack reached confidence 0.5."""
        return operations(self.reached(attack, 0.5))

    def flip_share(self, attack: str = BEAM) -> Figure:
        """Compute the share of flips among these operations."""
        counted = self.operations(attack)
        return rate(counted.flips, counted.total, "operations")

    def delete_share(self, attack: str = BEAM) -> Figure:
        """Compute the share of deletes among deletes and inserts."""
        counted = self.operations(attack)
        return rate(counted.deletes, counted.deletes + counted.inserts, "deletes and inserts")

    def lost_share(self) -> Figure:
        """Compute the share of edited words whose original is no longer among the nearest words."""
        changes = self.results[NEAREST]["changes"]
        return rate(sum(change["is_lost"] for change in changes), len(changes), "edited words")

    def correlation(self, estimate: str, kind: str) -> Figure:
        """Compute the mean rank correlation of estimated and true changes, over texts."""
        return mean(self.results[ESTIMATES[estimate]]["correlations"][kind], "texts")

    def neighbours(self, threshold: float) -> Figure:
        """Compute the mean number of words within a cosine, over the words of the test split."""
        return mean(self.results[NEIGHBOURS]["neighbours"][f"{threshold:g}"], "words")
