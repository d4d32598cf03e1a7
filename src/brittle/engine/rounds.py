"""The answers of one round, as the engine hands them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.asks import Answer, Ask, Flips, FlipsAnswer
from brittle.engine.desks import Failures
from brittle.errors import BrittleError


@dataclass
class RoundAnswers:
    """What one desk answered in a round, read off leaf by leaf in the order it was asked.

    `judged` is there for queries: scores, loss and won, a row for every payload.
    """

    payloads: list[Any]
    failures: Failures
    judged: tuple[Any, Any, Any] | None = None
    at: int = 0

    def __post_init__(self) -> None:
        if self.judged is not None:
            # What failed has a row in its place, which must neither win nor be the best.
            for n in self.failures:
                self.judged[1][n], self.judged[2][n] = -np.inf, False

    def next(self, leaf: Ask[Any], count: int) -> tuple[Any, Exception | None]:
        """Read off the next answer; in order, a failure behind the first winner is none."""
        start, self.at = self.at, self.at + count
        span, stop = slice(start, self.at), self.at
        answer: Any
        if self.judged is None:
            answer = self.payloads[span]
        else:
            scores, loss, won = (part[span] for part in self.judged)
            answer = Answer(scores, loss, won)
            if isinstance(leaf, Flips):
                moves = [p and p.moves for p in self.payloads[span]]
                answer = FlipsAnswer(scores, loss, won, moves)
            elif self.failures and getattr(leaf, "in_order", False) and answer.won.any():
                stop = start + int(answer.won.argmax())
        return answer, first_failure(self.failures, start, stop) if self.failures else None


def join_answers(parts: list[Answer]) -> Answer:
    """Put the answers to the parts of one question together."""
    if len(parts) == 1:
        return parts[0]
    scores, loss, won = zip(*((part.scores, part.loss, part.won) for part in parts))
    return Answer(np.concatenate(scores), np.concatenate(loss), np.concatenate(won))


def first_failure(failures: Failures, start: int, stop: int) -> Exception | None:
    return next((failures[n] for n in range(start, stop) if n in failures), None)


def error_message(error: Exception) -> str:
    text = str(error) or "no message"
    return text if isinstance(error, BrittleError) else f"{type(error).__name__}: {text}"
