"""The answers of one round, as the engine hands them to the cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.asks import Answer, Ask, Flips, FlipsAnswer
from brittle.engine.desks import Failures
from brittle.goals import Goal


@dataclass
class RoundAnswers:
    """What one desk answered in a round; `next` returns the answers in the order of the questions.

    `judged` holds scores, loss and won, a row for every payload, where the question was a query.
    """

    payloads: list[Any]
    failures: Failures
    judged: tuple[Any, Any, Any] | None = None
    offset: int = 0

    def judge(self, goal: Goal, owners: list[tuple[int, int, int]], start: Answer) -> None:
        """Judge all answers by the goal; `owners` lists label, toward and count of each question.

        What failed gets the row of an original: it must neither win nor be the best.
        """
        rows = self.payloads
        if self.failures or (rows and hasattr(rows[0], "scores")):
            rows = [start.scores[0] if p is None else getattr(p, "scores", p) for p in rows]
        scores = np.array(rows, dtype=np.float64)
        if not rows:
            self.judged = (scores, np.empty(0), np.empty(0, dtype=bool))
            return
        label, toward, count = np.array(owners).T
        loss, won = goal.judge(scores, np.repeat(label, count), np.repeat(toward, count))
        for n in self.failures:
            loss[n], won[n] = -np.inf, False
        self.judged = (scores, loss, won)

    def next(self, leaf: Ask[Any], count: int) -> tuple[Any, Exception | None]:
        """Return the answer to the next question, and its first failure.

        In an ordered Try, a failure after the first winner is ignored.
        """
        start, stop = self.offset, self.offset + count
        self.offset = stop
        part = slice(start, stop)
        answer: Any = self.payloads[part]
        if self.judged is not None:
            scores, loss, won = (values[part] for values in self.judged)
            answer = Answer(scores, loss, won)
            if isinstance(leaf, Flips):
                answer = FlipsAnswer(
                    scores, loss, won, [p and p.moves for p in self.payloads[part]]
                )
            elif self.failures and getattr(leaf, "in_order", False) and won.any():
                stop = start + int(won.argmax())
        failed = (self.failures[n] for n in range(start, stop) if n in self.failures)
        return answer, next(failed, None) if self.failures else None


def join_answers(parts: list[Answer]) -> Answer:
    """Join the answers to the parts of one question."""
    if len(parts) == 1:
        return parts[0]
    scores, loss, won = zip(*((part.scores, part.loss, part.won) for part in parts))
    return Answer(np.concatenate(scores), np.concatenate(loss), np.concatenate(won))
