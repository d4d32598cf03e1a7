"""What the goal says: of an original, of a round of answers, of a winner that is asked alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from brittle.asks import Answer, Case
from brittle.engine.desks import Failures
from brittle.errors import BrittleError, RunStopped, message_of
from brittle.goals import Candidates, Goal, judge_one


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
            f"The goal {goal} failed with {message_of(error)}. Correct it; the same command "
            "resumes the run."
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
