"""Success against the confidence asked for, computed from the steps of a run."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brittle.goals import is_reached
from brittle.metrics.summary import ATTACKED, Figure, rate
from brittle.results import Result, Step


@dataclass(frozen=True)
class ConfidenceCurve:
    """How many of the `of` attacked cases reached a wrong answer of some confidence.

    `reached` holds, lowest first, the highest confidence of a wrong answer, for every case with a
    wrong answer. The curve is known up to `known`, the confidence that the run asked for (0 if it
    asked for none): there its searches stopped, though some might have reached more.
    """

    reached: tuple[float, ...]
    of: int
    known: float

    def at_least(self, confidence: float) -> int:
        """Count the cases that reached this confidence; beyond `known` there may be more."""
        return len(self.reached) - bisect_left(self.reached, confidence)

    def share(self, confidence: float) -> float | None:
        """Return the share of attacked cases that reached this confidence, or None if unknown."""
        return self.figure(confidence).value

    def figure(self, confidence: float, level: float = 0.95) -> Figure:
        """Return that share with its Wilson interval; beyond `known` it has no value."""
        if confidence > self.known:
            return Figure(None, None, None, None, self.of, "attacked cases")
        return rate(self.at_least(confidence), self.of, "attacked cases", level)


def success_by_confidence(
    results: Sequence[Result],
    steps: Iterable[Step],
    asked: float | None = None,
    toward: str | None = None,
) -> ConfidenceCurve:
    """Compute the share of attacked cases that reached a wrong answer of each confidence.

    An answer counts if its label is not the reference, or, with `toward`, if it is that label.
    `asked` is the confidence that the run's goal asked for. At `asked` the share is the run's
    success: a step that reaches the whole goal counts only in a broken case, since in other cases
    it was not confirmed. Below `asked`, a case counts if one of its steps reached the confidence.
    Steps are improvements of the loss: with two classes they miss nothing that was tried; with
    more, a candidate may be surer of one wrong class without being an improvement, so the share is
    a lower bound.

    >>> from brittle.metrics.samples import sample_results, sample_steps
    >>> curve = success_by_confidence(sample_results(), sample_steps(), asked=0.7)
    >>> curve.reached, curve.of, curve.share(0.6), curve.share(0.8)
    ((0.7, 0.7, 0.7), 5, 0.6, None)
    >>> curve.figure(0.7).count, round(curve.figure(0.7).low, 3)
    (3, 0.231)
    """
    goal = asked or 0.0
    attacked = {r.case: r for r in results if r.status in ATTACKED}
    best: dict[str, float] = {}

    def reach(row: Result, label: str | None, confidence: float | None) -> None:
        is_wrong = is_reached(label, row.label, toward)
        if confidence is None or not is_wrong or (confidence >= goal and row.status != "broken"):
            return
        best[row.case] = max(best.get(row.case, 0.0), confidence)

    for step in steps:
        if step.case in attacked:
            reach(attacked[step.case], step.label, step.confidence)
    for row in attacked.values():
        reach(row, row.adversarial_label, row.adversarial_confidence)
    return ConfidenceCurve(tuple(sorted(best.values())), len(attacked), goal)
