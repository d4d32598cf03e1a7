"""What a goal is: it judges candidates of many cases at once, by their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from brittle.answers import AnswerKind
from brittle.asks import Case

ALREADY_THERE = "already there"
"""Why a case is not attacked: its original reaches the goal."""

Losses = NDArray[np.float64]
Wins = NDArray[np.bool_]
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a goal judges: items of several cases with the target's answers, in order.

    The first `counts[0]` items are of the first case, and so on. `answers` is an array with a row
    of scores for every item, or a list of texts.
    """

    cases: Sequence[Case[Any]]
    counts: Sequence[int]
    items: Sequence[Any]
    answers: Any

    @property
    def label(self) -> Indices:
        """The true class of every row."""
        return np.repeat([case.label for case in self.cases], self.counts)

    @property
    def toward(self) -> Indices:
        """The class aimed at, of every row."""
        return np.repeat([case.toward for case in self.cases], self.counts)

    def rows(self) -> Iterator[tuple[Case[Any], Any, Any]]:
        """Yield case, item and answer, for goals that look at one candidate after another."""
        rows = zip(self.items, self.answers)
        for case, count in zip(self.cases, self.counts):
            for item, answer in islice(rows, count):
                yield case, item, answer


class Goal(Protocol):
    """What counts as adversarial."""

    @property
    def answers(self) -> AnswerKind:
        """The kind of answers that it judges."""
        ...

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        """Return every row's loss (it rises as the goal comes nearer) and whether it has won."""
        ...

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        """Return why a case need not be attacked, by the answer on its original, or None.

        The reason begins with "already": otherwise the case counts as one that cannot be attacked.
        `case.start` is not known yet; `case.label` is.
        """
        ...


def judge_one(goal: Goal, case: Case[Any], item: Any, answer: Any) -> tuple[float, bool]:
    """Judge one candidate of one case."""
    answers = goal.answers.join([answer])
    loss, won = goal.judge(Candidates((case,), (1,), (item,), answers))
    return float(loss[0]), bool(won[0])


def spec_of(goal: Goal) -> str:
    """Return the spec of a goal: what `parse_goal` builds it from again, if it is one of ours.

    A user's own goal is named by what it prints, without memory addresses: no two starts share
    them.
    """
    return re.sub(r" at 0x[0-9a-fA-F]+", "", str(goal))
