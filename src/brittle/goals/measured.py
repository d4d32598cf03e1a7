"""A goal from a function of one answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.answers import SCORES, AnswerKind
from brittle.asks import Case
from brittle.goals.protocol import Candidates, Losses, Wins


@dataclass(frozen=True)
class Measured:
    """A function of one answer reaches a threshold: for any goal that has no class here."""

    measure: Callable[[Any], float]
    at_least: float
    answers: AnswerKind = SCORES

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        loss = np.array([self.measure(row) for row in candidates.answers], dtype=np.float64)
        return loss, loss >= self.at_least

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return "already there" if self.measure(answer) >= self.at_least else None
