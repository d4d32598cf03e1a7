"""The answers of one round, as the engine hands them out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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

    def answer(self, count: int) -> tuple[Answer, Exception | None]:
        start, self.at = self.at, self.at + count
        span = slice(start, self.at)
        failure = first_failure(self.failures, start, self.at) if self.failures else None
        return Answer(self.scores[span], self.loss[span], self.won[span]), failure

    def help(self, question: str, count: int) -> tuple[list[Any], Exception | None]:
        payloads, failures = self.helped[question]
        start = self.helped_at.get(question, 0)
        stop = self.helped_at[question] = start + count
        return payloads[start:stop], first_failure(failures, start, stop)


def first_failure(failures: Failures, start: int, stop: int) -> Exception | None:
    return next((failures[n] for n in range(start, stop) if n in failures), None)


def told(error: Exception) -> str:
    text = str(error) or "no message"
    return text if isinstance(error, BrittleError) else f"{type(error).__name__}: {text}"
