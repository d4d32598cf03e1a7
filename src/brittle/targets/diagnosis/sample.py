"""The sample of originals that every diagnosis looks at, and what a diagnosis says.

The originals are asked anyway by the run; a few of them are asked once more, alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brittle.asks import ANSWER, Case
from brittle.engine.broker import Asker
from brittle.errors import TargetDown
from brittle.targets.protocols import declared_by

SAMPLE_SIZE, REPEATS = 32, 8
COSTLY_SAMPLE_SIZE, COSTLY_REPEATS = 8, 4


@dataclass(frozen=True)
class DiagnosisWarning:
    """A reason to doubt the results of a run: a code for programs, a message for people."""

    code: str
    message: str


@dataclass(frozen=True)
class Sample:
    """Cases with the target's answers, and pairs of answers of those that were asked twice."""

    answered: Sequence[tuple[Case[Any], Any]]
    repeated: Sequence[tuple[Any, Any]]


def is_costly(target: Any, broker: Asker) -> bool:
    """Tell whether few cases are asked: the target is costly, or the whole run has a limit."""
    return bool(declared_by(target, "costly")) or broker.most_sent is not None


def ask_sample(
    target: Any, cases: Sequence[Case[Any]], broker: Asker, noun: str = "cases"
) -> Sample:
    """Ask the first cases, and some of them again; `TargetDown` if none is answered.

    Of a costly target 8 cases are asked and 4 of them repeated, else 32 and 8.
    """
    costly = is_costly(target, broker)
    cases = cases[: COSTLY_SAMPLE_SIZE if costly else SAMPLE_SIZE]
    answers, failures = broker.answer(ANSWER, [case.item for case in cases])
    answered = [pair for n, pair in enumerate(zip(cases, answers)) if n not in failures]
    if cases and not answered:
        raise TargetDown(
            f"Target {target.name!r} answered none of the first {len(cases)} {noun}. The first "
            f"failure: {failures[0]}"
        )
    # In another order and another batch: each repeat is asked alone, the last one first.
    again = answered[: COSTLY_REPEATS if costly else REPEATS][::-1]
    answers, failures = broker.alone(ANSWER, [case.item for case, _ in again])
    repeated = [(first, answers[n]) for n, (_, first) in enumerate(again) if n not in failures]
    return Sample(answered, repeated)
