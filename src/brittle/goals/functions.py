"""Goals from functions: a user's function of source and answer, or one of an answer alone.

A goal from a user's function of source and answer, named as `python:module:name`. A goal from a
function of one answer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.answers import SCORES, AnswerKind
from brittle.asks import Case
from brittle.errors import RunStopped, UsageError, message_of
from brittle.goals.protocol import Candidates, Losses, Wins
from brittle.text import Text
from brittle.values import import_named


@dataclass(frozen=True)
class FunctionGoal:
    """A function of (source, translation) or, for classifiers, of (text, scores) says so.

    A text is handed over as a string. True or False tells whether the goal is reached. A number is
    a loss: it rises as the goal comes nearer, and the goal is reached at 1.
    """

    function: Callable[[Any, Any], Any]
    spec: str
    answers: AnswerKind = SCORES

    def __str__(self) -> str:
        return self.spec

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        values = [self._value(item, answer) for _, item, answer in candidates.rows()]
        loss = np.array(values, dtype=np.float64)
        return loss, loss >= 1.0

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return "already there" if self._value(case.item, answer) >= 1.0 else None

    def _value(self, item: Any, answer: Any) -> float:
        source = str(item) if isinstance(item, Text) else item
        try:
            value = self.function(source, answer)
        except Exception as error:  # a user's function can raise anything
            raise RunStopped(
                f"The goal {self.spec} failed with {message_of(error)} on {source!r:.200} and "
                f"{answer!r:.200}. Correct the function."
            ) from error
        if isinstance(value, bool | np.bool_ | int | float | np.number):
            with suppress(OverflowError):  # of a whole number with hundreds of digits
                if not np.isnan(number := float(value)):
                    return number
        raise RunStopped(
            f"The goal {self.spec} returned {value!r:.200} on {source!r:.200} and "
            f"{answer!r:.200}; expected True or False, or a number, 1 or more if the goal "
            "is reached."
        )


def import_goal(spec: str, answers: AnswerKind) -> Any:
    """Import a goal, or a function to make one of, by its name."""
    value = import_named(spec, "python:my_goals:probe")
    if hasattr(value, "judge") and not isinstance(value, type):
        return value
    if not callable(value) or isinstance(value, type):
        raise UsageError(
            f"Got {spec!r}, which is {value!r}; expected a function of (source, translation), of "
            "(text, scores) for a classifier, or a goal with judge, unfit and answers."
        )
    return FunctionGoal(value, spec, answers)


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
