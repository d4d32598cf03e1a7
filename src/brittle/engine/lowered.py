"""Cases whose candidates were scored in a lower precision: what is stored of them is in float32.

A target may score candidates in bf16 or fp16. The engine asks about originals and winners in
float32. When a case ends, its improvements are asked again in float32, so that no loss and no
confidence of the lower precision is stored. These questions are no queries of the case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brittle.asks import ANSWER, CANDIDATE, Try
from brittle.engine.broker import Broker
from brittle.engine.rounds import RoundAsks, hold_to, judge_alone, judge_round
from brittle.engine.running import Improvement, Outcome
from brittle.errors import message_of
from brittle.goals import Goal
from brittle.goals.constraints import Constraint
from brittle.statuses import LevelStatus

NOT_PROVED = "not proved: candidates were scored in a lower precision"
"""The reason of a case that float32 scores of its candidates would have proved."""
CONFIRMED = ("broken", "unconfirmed")
"""The statuses for which the best candidate is scored alone in float32 when the case ends."""


@dataclass(frozen=True)
class Rescored:
    """An item in float32: the answer, its loss, and whether it wins; or why it has no answer."""

    payload: Any
    loss: float
    won: bool
    failure: Exception | None = None


def in_float32(
    ended: Sequence[Outcome], goal: Goal, constraints: Sequence[Constraint], broker: Broker
) -> list[Outcome]:
    """Return cases that ended in one round with everything in float32.

    A case without a winner whose candidate wins in float32 is broken.
    """
    if CANDIDATE not in broker.desks:
        return list(ended)
    asked = RoundAsks()
    answered: Iterator[Rescored] = iter(())
    for outcome in ended:
        items = _items(outcome)
        if items:
            asked.add(outcome.case, Try(items), items)
    if asked.items:
        answered = _rescore(asked, goal, constraints, broker)
    restated = []
    for outcome in ended:
        rescored = {item.key: next(answered) for item in _items(outcome)}
        if rescored:
            outcome = _restate(outcome, rescored)
            outcome = _with_missed_winner(outcome, rescored, goal, broker)
        restated.append(_unproved(outcome))
    return restated


def _items(outcome: Outcome) -> list[Any]:
    """List the items of a case whose stored answers are of the lower precision."""
    if outcome.case.start is None:
        return []
    steps = [step.item for step in outcome.steps[1:]]
    best = [] if outcome.best is None else [outcome.best.item]
    kept = [item.item for item in outcome.kept_items if item.payload is not None]
    return list({item.key: item for item in [*steps, *best, *kept]}.values())


def _rescore(
    asked: RoundAsks, goal: Goal, constraints: Sequence[Constraint], broker: Broker
) -> Iterator[Rescored]:
    payloads, failures = broker.answer(ANSWER, asked.items)
    judged = judge_round(goal, asked.cases, asked.counts, asked.items, payloads, failures)
    if constraints:
        judged = hold_to(constraints, broker, asked, judged)
    for n, payload in enumerate(payloads):
        loss, won = float(judged.loss[n]), bool(judged.won[n])
        yield Rescored(payload, loss, won, failures.get(n))


def _restate(outcome: Outcome, rescored: Mapping[bytes, Rescored]) -> Outcome:
    """Put the answers in float32 in place of the others."""
    failure = next((one.failure for one in rescored.values() if one.failure is not None), None)
    if failure is not None:
        return Outcome(outcome.case, "error", message_of(failure), outcome.queries)
    best = outcome.best
    is_step = best is not None and any(step.query == best.query for step in outcome.steps)
    confirmed = best if outcome.status in CONFIRMED else None
    steps = list(outcome.steps[:1])
    for step in outcome.steps[1:]:
        exact = rescored[step.item.key]
        if confirmed is not None and step.query == confirmed.query:
            steps.append(confirmed)
        # What gains nothing in float32 is no improvement, and the cost of a loser is none.
        elif exact.loss > steps[-1].loss and (step.cost is None or exact.won):
            steps.append(_in_float32(step, rescored))
    if best is not None and confirmed is None:
        improved = steps[-1] if len(steps) > 1 else None
        best = improved if is_step else _in_float32(best, rescored)
    kept = tuple(
        item if item.payload is None else replace(item, payload=rescored[item.item.key].payload)
        for item in outcome.kept_items
    )
    return replace(outcome, best=best, steps=tuple(steps), kept_items=kept)


def _in_float32(step: Improvement, rescored: Mapping[bytes, Rescored]) -> Improvement:
    exact = rescored[step.item.key]
    return replace(step, loss=exact.loss, payload=exact.payload)


def _with_missed_winner(
    outcome: Outcome, rescored: Mapping[bytes, Rescored], goal: Goal, broker: Broker
) -> Outcome:
    """Return a case without a winner as broken if an improvement wins in float32, also alone."""
    if outcome.status in (*CONFIRMED, "skipped", "error"):
        return outcome
    offered = [*outcome.steps[1:], *([] if outcome.best is None else [outcome.best])]
    for step in offered:
        if not rescored[step.item.key].won:
            continue
        (payload,), failures = broker.alone(ANSWER, [step.item])
        if failures:
            continue
        loss, won = judge_alone(goal, outcome.case, step.item, payload)
        if won:
            winner = replace(step, loss=loss, payload=payload)
            before = tuple(one for one in outcome.steps if one.query < step.query)
            broken: dict[str, Any] = {"status": "broken", "reason": "", "best": winner}
            return replace(outcome, **broken, steps=(*before, winner))
    return outcome


def _unproved(outcome: Outcome) -> Outcome:
    """Take back proofs, and levels that broke only in the lower precision."""
    levels: dict[str, LevelStatus] = {}
    broken_at = None
    if outcome.status == "broken" and outcome.best is not None:
        broken_at = outcome.best.level
    for level, status in outcome.levels.items():
        if level == broken_at:
            levels[level] = "broken"
            break
        levels[level] = "held" if status in ("proved", "broken") else status
    if outcome.status == "proved":
        outcome = replace(outcome, status="held", reason=NOT_PROVED)
    return replace(outcome, levels=levels, proved_words=None)
