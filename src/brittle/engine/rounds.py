"""The answers of one round: what the goal says of them, and what constraints refuse.

The answers of one round, as the engine hands them to the cases. What the goal says: of an original,
of a round of answers, of a winner that is asked alone. Constraints on candidates: one that reaches
the goal but does not keep enough is no winner. Only candidates that were offered and have won are
measured: few, and only they could be reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from brittle.asks import Answer, Ask, Case, Flips, FlipsAnswer, Try
from brittle.engine.broker import Broker
from brittle.engine.desks import Failures
from brittle.errors import BrittleError, RunStopped, message_of
from brittle.goals import Candidates, Goal, judge_one
from brittle.goals.constraints import Constraint, compare


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


def start_case(goal: Goal, case: Case[Any], answer: Any) -> tuple[Case[Any], str | None]:
    """Return the case with the answer on its original, and why it need not be attacked, if so."""
    if case.label is None:
        case = replace(case, label=goal.answers.reference(answer))
    with _named_errors(goal):
        loss, won = judge_one(goal, case, case.item, answer)
        reason = goal.unfit(case, answer)
    start = Answer(goal.answers.join([answer]), np.array([loss]), np.array([won]))
    return replace(case, start=start), reason


def judge_alone(goal: Goal, case: Case[Any], item: Any, answer: Any) -> tuple[float, bool]:
    """Judge one candidate that was asked alone."""
    with _named_errors(goal):
        return judge_one(goal, case, item, answer)


@contextmanager
def _named_errors(goal: Goal) -> Iterator[None]:
    """Stop the run, with what is finished kept, if a goal of the user's own fails."""
    try:
        yield
    except BrittleError:
        raise
    except Exception as error:
        raise RunStopped(
            f"The goal {goal} failed with {message_of(error)}. Correct it, then run the "
            "same command again to resume."
        ) from error


def judge_round(
    goal: Goal,
    cases: Sequence[Case[Any]],
    counts: Sequence[int],
    items: Sequence[Any],
    payloads: Sequence[Any],
    failures: Failures,
) -> Answer:
    """Judge the answers to the queries of one round.

    A payload that holds more than the answer has it as `scores`. What failed gets the answer of an
    original, for it must neither win nor be the best.
    """
    start = cases[0].start
    if failures or (payloads and hasattr(payloads[0], "scores")):
        filler = None if start is None else start.answers[0]
        payloads = [filler if p is None else getattr(p, "scores", p) for p in payloads]
    answers = goal.answers.join(payloads)
    if not payloads:
        return Answer(answers, np.empty(0), np.empty(0, dtype=bool))
    with _named_errors(goal):
        loss, won = goal.judge(Candidates(cases, counts, items, answers))
    for n in failures:
        loss[n], won[n] = -np.inf, False
    return Answer(answers, loss, won)


def hold_to(
    constraints: Sequence[Constraint], broker: Broker, asked: RoundAsks, judged: Answer
) -> Answer:
    """Take the win from candidates of a round that break a constraint, and mark them as refused.

    Such a candidate counts as one that gains nothing: it has the loss of the original, so that a
    search does not follow it.
    """
    refused = np.zeros(len(judged.won), dtype=bool)
    owners: list[Any] = [case for case, n in zip(asked.cases, asked.counts) for _ in range(n)]
    winning = np.flatnonzero(judged.won & np.array(asked.offered, dtype=bool)).tolist()
    for constraint in constraints:
        pairs = [(owners[n].item, asked.items[n]) for n in winning]
        values = compare(constraint.measure, pairs, broker.answer)
        kept = []
        for n, value in zip(winning, values):
            if constraint.holds(value):
                kept.append(n)
            else:
                judged.won[n], judged.loss[n] = False, owners[n].start_loss
                refused[n] = True
        winning = kept
    return replace(judged, refused=refused)
