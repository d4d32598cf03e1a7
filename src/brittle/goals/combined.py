"""Goals made of other goals: all of them, any of them, not one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.answers import AnswerKind
from brittle.asks import Case
from brittle.goals.protocol import Candidates, Goal, Losses, Wins


@dataclass(frozen=True)
class AllOf:
    """All of several goals are reached; the loss is that of the farthest goal."""

    goals: tuple[Goal, ...]

    @property
    def answers(self) -> AnswerKind:
        return self.goals[0].answers

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        judged = [goal.judge(candidates) for goal in self.goals]
        return np.min([loss for loss, _ in judged], axis=0), np.all([w for _, w in judged], axis=0)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return _first_reason(self.goals, case, answer)


@dataclass(frozen=True)
class AnyOf:
    """One of several goals is reached; the loss is that of the nearest goal."""

    goals: tuple[Goal, ...]

    @property
    def answers(self) -> AnswerKind:
        return self.goals[0].answers

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        judged = [goal.judge(candidates) for goal in self.goals]
        return np.max([loss for loss, _ in judged], axis=0), np.any([w for _, w in judged], axis=0)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return _first_reason(self.goals, case, answer)


@dataclass(frozen=True)
class Not:
    """Another goal is not reached; the loss is the negative of its loss."""

    goal: Goal

    @property
    def answers(self) -> AnswerKind:
        return self.goal.answers

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        loss, won = self.goal.judge(candidates)
        return -loss, ~won

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        candidates = Candidates((case,), (1,), (case.item,), self.answers.join([answer]))
        return "already so" if self.judge(candidates)[1][0] else None


def _first_reason(goals: tuple[Goal, ...], case: Case[Any], answer: Any) -> str | None:
    """Return the first goal's reason: each part must be brought about by the edits."""
    return next((reason for goal in goals if (reason := goal.unfit(case, answer))), None)
