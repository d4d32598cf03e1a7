"""Goals: what counts as adversarial, apart from the search for it; goals compose.

A goal judges answers of many cases at once: `payload` has a row for each item, `label` and
`toward` hold for each row the true class and the class aimed at (−1: none).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Losses = NDArray[np.float64]
Wins = NDArray[np.bool_]
Indices = NDArray[np.int64]


class Goal(Protocol):
    """What counts as adversarial."""

    def judge(self, payload: Any, label: Indices, toward: Indices) -> tuple[Losses, Wins]:
        """Return every row's loss (it rises as the goal comes nearer) and whether it has won."""
        ...

    def reference(self, payload: Any) -> int:
        """Return the class that counts as true if an example has no label: the predicted one."""
        ...

    def unfit(self, payload: Any, label: int, toward: int) -> str | None:
        """Return why a case need not be attacked, by the answer on its original, or None.

        The reason begins with "already": otherwise the case counts as one that cannot be attacked.
        """
        ...


@dataclass(frozen=True)
class Untargeted:
    """Any other class is predicted; the loss is the other classes' summed probability."""

    def judge(self, payload: Any, label: Indices, toward: Indices) -> tuple[Losses, Wins]:
        others = np.array(payload, dtype=np.float64)
        rows = np.arange(len(others))
        won = others.argmax(axis=1) != label
        # The true class is set to zero, since 1 − p would lose the digits of a small loss.
        others[rows, label] = 0.0
        return others.sum(axis=1), won

    def reference(self, payload: Any) -> int:
        return int(np.argmax(payload))

    def unfit(self, payload: Any, label: int, toward: int) -> str | None:
        return "already wrong" if int(np.argmax(payload)) != label else None


@dataclass(frozen=True)
class Targeted:
    """The class aimed at is predicted; the loss is its probability."""

    def judge(self, payload: Any, label: Indices, toward: Indices) -> tuple[Losses, Wins]:
        scores = np.asarray(payload, dtype=np.float64)
        return scores[np.arange(len(scores)), toward], scores.argmax(axis=1) == toward

    def reference(self, payload: Any) -> int:
        return int(np.argmax(payload))

    def unfit(self, payload: Any, label: int, toward: int) -> str | None:
        predicted = int(np.argmax(payload))
        if label == toward:
            return "already of the class aimed at"
        if predicted == toward:
            return "already there"
        return "already wrong" if predicted != label else None


@dataclass(frozen=True)
class Confident:
    """Another goal is reached, and the predicted class has at least this probability."""

    goal: Goal
    at_least: float

    def judge(self, payload: Any, label: Indices, toward: Indices) -> tuple[Losses, Wins]:
        loss, won = self.goal.judge(payload, label, toward)
        return loss, won & (np.asarray(payload).max(axis=1) >= self.at_least)

    def reference(self, payload: Any) -> int:
        return self.goal.reference(payload)

    def unfit(self, payload: Any, label: int, toward: int) -> str | None:
        return self.goal.unfit(payload, label, toward)


@dataclass(frozen=True)
class All:
    """All of several goals are reached; the loss is that of the farthest goal."""

    goals: tuple[Goal, ...]

    def judge(self, payload: Any, label: Indices, toward: Indices) -> tuple[Losses, Wins]:
        judged = [goal.judge(payload, label, toward) for goal in self.goals]
        return np.min([loss for loss, _ in judged], axis=0), np.all([w for _, w in judged], axis=0)

    def reference(self, payload: Any) -> int:
        return self.goals[0].reference(payload)

    def unfit(self, payload: Any, label: int, toward: int) -> str | None:
        reasons = (goal.unfit(payload, label, toward) for goal in self.goals)
        return next((reason for reason in reasons if reason), None)


@dataclass(frozen=True)
class Measured:
    """A function of one answer reaches a threshold: for any goal that has no class here."""

    measure: Callable[[Any], float]
    at_least: float

    def judge(self, payload: Any, label: Indices, toward: Indices) -> tuple[Losses, Wins]:
        loss = np.array([self.measure(row) for row in payload], dtype=np.float64)
        return loss, loss >= self.at_least

    def reference(self, payload: Any) -> int:
        return -1

    def unfit(self, payload: Any, label: int, toward: int) -> str | None:
        return "already there" if self.measure(payload) >= self.at_least else None
