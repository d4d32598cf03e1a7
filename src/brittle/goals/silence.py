"""Goals under a target that may give no answer: what has none is neither a pass nor a break.

A chat model may answer without a label, refuse, or give as many answers for one label as for
another. Such an answer is a label of its own. It never reaches a goal, and no search gains by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from brittle.answers import REFUSED, SCORES, TIED, AnswerKind
from brittle.asks import Case
from brittle.goals.protocol import Candidates, Goal, Losses, Wins, spec_of
from brittle.statuses import Status


@dataclass(frozen=True)
class NeedsAnswer:
    """Another goal is reached by an answer; the `silent` labels stand at these indices."""

    goal: Goal
    silent: tuple[tuple[int, str], ...]
    answers: AnswerKind = SCORES

    def __str__(self) -> str:
        return spec_of(self.goal)

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        scores = np.array(candidates.answers, dtype=np.float64)
        is_silent = np.isin(scores.argmax(axis=1), self._indices)
        loss, won = self.goal.judge(replace(candidates, answers=self._spoken(scores)))
        return np.where(is_silent, 0.0, loss), won & ~is_silent

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        if self.silence(answer) is not None:
            return "already without an answer"
        return self.goal.unfit(case, self._spoken(np.array([answer], dtype=np.float64))[0])

    def silence(self, answer: Any) -> str | None:
        """Return the label of an answer that is none, or None."""
        return dict(self.silent).get(int(np.argmax(answer)))

    def count_silent(self, answers: Sequence[Any]) -> Counter[str]:
        """Count the answers that are none, by their labels."""
        labels = (self.silence(answer) for answer in answers if answer is not None)
        return Counter(label for label in labels if label is not None)

    @property
    def _indices(self) -> list[int]:
        return [index for index, _ in self.silent]

    def _spoken(self, scores: Any) -> Any:
        spoken = scores.copy()
        spoken[:, self._indices] = 0.0
        return spoken


def needs_answer(goal: Goal, labels: Sequence[str], silent: Sequence[str]) -> Goal:
    """Return a goal that only an answer reaches; the goal itself, if the target always answers."""
    indices = tuple((n, label) for n, label in enumerate(labels) if label in silent)
    return NeedsAnswer(goal, indices) if indices else goal


def status_of_silence(label: str) -> tuple[Status, str]:
    """Return status and reason of a case whose original got this in place of a label."""
    if label == TIED:
        return "skipped", "tied answers"
    return ("refused", "") if label == REFUSED else ("unparsed", "")
