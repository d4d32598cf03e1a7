"""Goals made of other goals, and a goal with a keyword of its own for every case.

Goals made of other goals: all of them, any of them, not one. A goal with a keyword of its own for
every case, drawn before the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from brittle.answers import TEXTS, AnswerKind
from brittle.asks import Case
from brittle.errors import UsageError
from brittle.goals.protocol import Candidates, Goal, Losses, Wins, judge_one, spec_of
from brittle.goals.texts import Keyword, judge_texts


@dataclass(frozen=True)
class Several:
    """One or more goals, of one kind of answers; `word` is their name in a spec."""

    goals: tuple[Goal, ...]
    word: ClassVar[str]

    def __post_init__(self) -> None:
        if not self.goals:
            raise UsageError(f"{type(self).__name__} got no goals; expected one or more.")

    @property
    def answers(self) -> AnswerKind:
        return self.goals[0].answers

    def __str__(self) -> str:
        return f"{self.word}({'; '.join(map(spec_of, self.goals))})"


@dataclass(frozen=True)
class AllOf(Several):
    """All of several goals are reached; the loss is that of the farthest goal.

    A `Not` among them is a condition: it may hold from the start. The other goals must each be
    brought about by the edits.
    """

    word = "all"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        judged = [goal.judge(candidates) for goal in self.goals]
        return np.min([loss for loss, _ in judged], axis=0), np.all([w for _, w in judged], axis=0)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        aims = tuple(goal for goal in self.goals if not isinstance(goal, Not))
        if aims:
            return next(_reasons(aims, case, answer), None)
        return "already so" if judge_one(self, case, case.item, answer)[1] else None


@dataclass(frozen=True)
class AnyOf(Several):
    """One of several goals is reached; the loss is that of the nearest goal."""

    word = "any"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        judged = [goal.judge(candidates) for goal in self.goals]
        return np.max([loss for loss, _ in judged], axis=0), np.any([w for _, w in judged], axis=0)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        """Return why nothing is left to reach: one goal is reached, or none can be."""
        reasons = [goal.unfit(case, answer) for goal in self.goals]
        for goal, reason in zip(self.goals, reasons):
            if judge_one(goal, case, case.item, answer)[1]:
                return reason or "already there"
        return reasons[0] if all(reasons) else None


@dataclass(frozen=True)
class Not:
    """Another goal is not reached; the loss is 1 − its loss."""

    goal: Goal

    @property
    def answers(self) -> AnswerKind:
        return self.goal.answers

    def __str__(self) -> str:
        return f"not:{spec_of(self.goal)}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        loss, won = self.goal.judge(candidates)
        return 1.0 - loss, ~won

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        inner = self.goal.unfit(case, answer)
        if inner is not None and not inner.startswith("already"):
            return inner  # the goal cannot be judged here, and neither can its opposite
        return "already so" if judge_one(self, case, case.item, answer)[1] else None


def _reasons(goals: tuple[Goal, ...], case: Case[Any], answer: Any) -> Iterator[str]:
    """Yield the reasons of the goals that call a case unfit."""
    return (reason for goal in goals if (reason := goal.unfit(case, answer)))


NO_KEYWORD = "no keyword to draw from other translations"


@dataclass(frozen=True)
class DrawnKeyword:
    """The keyword of the case (`Case.keyword`) appears in its translation, as of `Keyword`."""

    answers: AnswerKind = TEXTS

    def __str__(self) -> str:
        return "keyword"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, self._measure)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        if case.keyword is None:
            return NO_KEYWORD
        return Keyword(case.keyword).unfit(case, answer)

    def _measure(self, case: Case[Any], source: str, translation: str) -> tuple[float, bool]:
        if case.keyword is None:
            return 0.0, False
        return judge_one(Keyword(case.keyword), case, case.item, translation)


def parse_keyword(value: str) -> Goal:
    """Build the goal of one keyword for all cases or, without a word, of one for each."""
    return Keyword.parse(value) if value else DrawnKeyword()
