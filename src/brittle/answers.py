"""The answers of one round, as the engine hands them out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from brittle.asks import Answer
from brittle.desks import Failures
from brittle.errors import BrittleError


@dataclass
class Answers:
    """The answers of a round, read off leaf by leaf in the order they were asked."""

    items: list[Any]
    scores: Any
    loss: Any
    won: Any
    failures: Failures
    helped: dict[str, tuple[list[Any], Failures]]
    at: int = 0
    helped_at: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # What failed has a row in its place, which must neither win nor be the best.
        for n in self.failures:
            self.won[n], self.loss[n] = False, -np.inf

    def answer(self, count: int, in_order: bool = False) -> tuple[Answer, Exception | None]:
        """Read off the next answer; in order, a failure behind the first winner is none."""
        start, self.at = self.at, self.at + count
        span = slice(start, self.at)
        answer = Answer(self.scores[span], self.loss[span], self.won[span])
        stop = self.at
        if self.failures and in_order and answer.won.any():
            stop = start + int(answer.won.argmax())
        return answer, first_failure(self.failures, start, stop) if self.failures else None

    def help(self, question: str, count: int) -> tuple[list[Any], Exception | None]:
        payloads, failures = self.helped[question]
        start = self.helped_at.get(question, 0)
        stop = self.helped_at[question] = start + count
        return payloads[start:stop], first_failure(failures, start, stop)


def joined(parts: list[Answer]) -> Answer:
    """Put the answers to the parts of one question together."""
    if len(parts) == 1:
        return parts[0]
    scores, loss, won = zip(*((part.scores, part.loss, part.won) for part in parts))
    return Answer(np.concatenate(scores), np.concatenate(loss), np.concatenate(won))


def first_failure(failures: Failures, start: int, stop: int) -> Exception | None:
    return next((failures[n] for n in range(start, stop) if n in failures), None)


def told(error: Exception) -> str:
    text = str(error) or "no message"
    return text if isinstance(error, BrittleError) else f"{type(error).__name__}: {text}"
