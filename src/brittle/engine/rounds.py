"""The answers of one round, as the engine hands them to the cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from brittle.asks import Answer, Ask, Case, Flips, FlipsAnswer, Try
from brittle.engine.desks import Failures


@dataclass
class RoundAsks:
    """What one desk is asked in a round; of queries also whose items they are, to be judged.

    `offered` tells which items are candidates of a `Try`.
    """

    requests: list[Any] = field(default_factory=list)
    cases: list[Case[Any]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)
    offered: list[bool] = field(default_factory=list)

    def add(self, case: Case[Any], leaf: Ask[Any], items: Sequence[Any]) -> None:
        """Add a question of a case about some items."""
        self.requests.extend(leaf.requests_for(items))
        if leaf.is_query:
            self.cases.append(case)
            self.counts.append(len(items))
            self.items.extend(items)
            self.offered.extend([isinstance(leaf, Try)] * len(items))


@dataclass
class RoundAnswers:
    """What one desk answered in a round; `next` returns the answers in the order of the questions.

    `judged` holds answers, loss and won, a row for every payload, where the question was a query.
    """

    payloads: list[Any]
    failures: Failures
    judged: Answer | None = None
    offset: int = 0

    def next(self, leaf: Ask[Any], count: int) -> tuple[Any, Exception | None]:
        """Return the answer to the next question, and its first failure.

        In an ordered Try, a failure after the first winner is ignored.
        """
        start, stop = self.offset, self.offset + count
        self.offset = stop
        part = slice(start, stop)
        answer: Any = self.payloads[part]
        if self.judged is not None:
            judged = self.judged
            rows = (judged.answers[part], judged.loss[part], judged.won[part])
            refused = None if judged.refused is None else judged.refused[part]
            answer = Answer(*rows, refused=refused)
            if isinstance(leaf, Flips):
                moves = [p and p.moves for p in self.payloads[part]]
                answer = FlipsAnswer(*rows, moves, refused=refused)
            elif self.failures and getattr(leaf, "in_order", False) and answer.won.any():
                stop = start + int(answer.won.argmax())
        failed = (self.failures[n] for n in range(start, stop) if n in self.failures)
        return answer, next(failed, None) if self.failures else None


def join_answers(parts: list[Answer]) -> Answer:
    """Join the answers to the parts of one question."""
    if len(parts) == 1:
        return parts[0]
    rows, loss, won = zip(*((part.answers, part.loss, part.won) for part in parts))
    is_array = isinstance(rows[0], np.ndarray)
    answers = np.concatenate(rows) if is_array else list(chain.from_iterable(rows))
    refused = [part.refused for part in parts if part.refused is not None]
    joined = np.concatenate(refused) if refused else None
    return Answer(answers, np.concatenate(loss), np.concatenate(won), refused=joined)
