"""Goals on classes: any other one, one that is named, a confidence, a score below a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from brittle.answers import SCORES, AnswerKind
from brittle.asks import Case
from brittle.errors import UsageError
from brittle.goals.protocol import Candidates, Goal, Losses, Wins, spec_of

OF_THE_CLASS_AIMED_AT = "already of the class aimed at"
"""The reason of a case that a targeted goal cannot attack, by its label."""

C = TypeVar("C")


def is_reached(predicted: C, label: C, toward: C | None) -> Any:
    """Tell whether a predicted class is what a goal asks for: names, indices or arrays of them.

    >>> is_reached("sports", "world", None), is_reached("sports", "world", "business")
    (True, False)
    """
    return predicted != label if toward is None else predicted == toward


def is_class_goal(name: str) -> bool:
    """Tell by the stored name of a goal whether any other class, or one class, was aimed at.

    >>> is_class_goal("toward sports with confidence 0.9"), is_class_goal("python:my:probe")
    (True, False)
    """
    return name.startswith(("untargeted", "toward "))


@dataclass(frozen=True)
class Untargeted:
    """Any other class is predicted; the loss is the other classes' summed probability."""

    answers: AnswerKind = SCORES

    def __str__(self) -> str:
        return "untargeted"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        others, label = np.array(candidates.answers, dtype=np.float64), candidates.label
        won = is_reached(others.argmax(axis=1), label, None)
        # The true class is set to zero, since 1 − p would lose the digits of a small loss.
        others[np.arange(len(others)), label] = 0.0
        return others.sum(axis=1), won

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return "already wrong" if int(np.argmax(answer)) != case.label else None


@dataclass(frozen=True)
class Targeted:
    """The class aimed at is predicted; the loss is its probability.

    The class is that of the case (`Case.toward`), or `index`, a class of the target with a `label`.
    """

    index: int | None = None
    label: str = ""
    answers: AnswerKind = SCORES

    def __str__(self) -> str:
        return "toward" if self.index is None else f"toward:{self.label}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        scores = np.asarray(candidates.answers, dtype=np.float64)
        toward = candidates.toward if self.index is None else np.full(len(scores), self.index)
        won = is_reached(scores.argmax(axis=1), candidates.label, toward)
        return scores[np.arange(len(scores)), toward], won

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        predicted, toward = int(np.argmax(answer)), case.toward
        if self.index is not None:
            toward = self.index
        if case.label == toward:
            return OF_THE_CLASS_AIMED_AT
        if predicted == toward:
            return "already there"
        return "already wrong" if predicted != case.label else None


@dataclass(frozen=True)
class Confident:
    """Another goal is reached, and the predicted class has at least this probability."""

    goal: Goal
    at_least: float
    answers: AnswerKind = SCORES

    def __str__(self) -> str:
        return f"{spec_of(self.goal)} with confidence {self.at_least:g}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        loss, won = self.goal.judge(candidates)
        return loss, won & (np.asarray(candidates.answers).max(axis=1) >= self.at_least)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return self.goal.unfit(case, answer)


@dataclass(frozen=True)
class Below:
    """The score of one class falls below a threshold; the loss is what the others have together.

    It is meant for guards: a text is caught as long as its score is at least the threshold,
    whatever class the target would predict.
    """

    index: int
    label: str
    threshold: float
    answers: AnswerKind = SCORES

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise UsageError(
                f"Got the threshold {self.threshold:g} for the score of {self.label!r}; expected a "
                "number above 0, at most 1."
            )

    def __str__(self) -> str:
        return f"below:{self.label}@{self.threshold!r}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        others = np.array(candidates.answers, dtype=np.float64)
        won = others[:, self.index] < self.threshold
        # The class is set to zero, since 1 − p would lose the digits of a small loss.
        others[:, self.index] = 0.0
        return others.sum(axis=1), won

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return "already below the threshold" if answer[self.index] < self.threshold else None


def needs_other_class(goal: Goal) -> bool:
    """Tell whether a goal can be reached only by a text that is predicted as another class.

    >>> needs_other_class(Confident(Untargeted(), 0.9))
    True
    """
    inner = goal.goal if isinstance(goal, Confident) else goal
    return isinstance(inner, Untargeted | Targeted)
