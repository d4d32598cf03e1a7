"""Constraints in the engine, on plain integers: what keeps too little does not win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from brittle.asks import Case, Probe, Search, Try
from brittle.engine.broker import Broker
from brittle.engine.desks import Desk
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.goals import Untargeted
from brittle.goals.constraints import Constraint
from brittle.targets.capabilities import scores_desk
from engine.numbers import Number
from engine.test_engine import Odd, searching


@dataclass(frozen=True)
class Near:
    """1 / (1 + the difference of two numbers), by a helper that says the numbers."""

    name: str = "nearness"
    question: str = "worth"

    def value(self, pair: Any, answers: Any) -> float:
        return 1 / (1 + abs(answers[0] - answers[1]))


def attack(search: Any, least: float | None, start: int = 10) -> tuple[Outcome, list[int]]:
    """Attack one number; return how it ended, and the numbers that were measured."""
    measured: list[int] = []

    def worth(items: Sequence[Number]) -> list[int]:
        measured.extend(int(item) for item in items)
        return [int(item) for item in items]

    broker = Broker({"answer": scores_desk(Odd()), "worth": Desk(worth)})
    constraints = () if least is None else (Constraint(Near(), least),)
    engine = Engine(search, Untargeted(), broker, constraints=constraints)
    (outcome,) = (o for ended in engine.run([Case("n", Number(start), 0)]) for o in ended)
    return outcome, measured


@pytest.mark.parametrize("in_order", [False, True])
def test_the_winner_is_the_one_that_keeps_enough(in_order: bool) -> None:
    def search(case: Case[Number], rng: Random) -> Search[None]:
        yield from Try([Number(n) for n in (20, 95, 60, 55)], in_order=in_order)

    free, measured = attack(searching(search), None)
    assert free.status == "broken" and int(free.best.item) == 95  # type: ignore[union-attr]
    assert measured == []
    # 95 is the surest, but 85 away; 60 is 50 away, 55 is 45 away.
    bound, measured = attack(searching(search), 1 / 51)
    assert bound.status == "broken" and int(bound.best.item) == 60  # type: ignore[union-attr]
    assert set(measured) == {10, 95, 60, 55}  # 20 does not win, and is not measured
    nearest, _ = attack(searching(search), 1 / 46)
    assert int(nearest.best.item) == 55  # type: ignore[union-attr]


def test_without_a_winner_that_keeps_enough_the_case_is_held() -> None:
    seen: list[float] = []

    def search(case: Case[Number], rng: Random) -> Search[None]:
        answer = yield from Try([Number(95), Number(30)])
        seen.extend(answer.loss.tolist())

    outcome, _ = attack(searching(search), 0.5)
    assert outcome.status == "held" and outcome.queries == 3
    # The search sees what breaks a constraint as a text that gains nothing.
    assert seen == pytest.approx([0.1, 0.3])
    assert [int(step.item) for step in outcome.steps] == [10, 30]


def test_what_is_only_measured_by_a_probe_is_not_held_to_it() -> None:
    seen: list[float] = []

    def search(case: Case[Number], rng: Random) -> Search[None]:
        answer = yield from Probe([Number(95)])
        seen.extend(answer.loss.tolist())
        yield from Try([Number(30)])

    _, measured = attack(searching(search), 0.5)
    assert seen == pytest.approx([0.95]) and measured == []


def test_a_helper_that_fails_keeps_nothing() -> None:
    def search(case: Case[Number], rng: Random) -> Search[None]:
        yield from Try([Number(95)])

    def worth(items: Sequence[Number]) -> list[int]:
        raise ValueError("no idea")

    broker = Broker({"answer": scores_desk(Odd()), "worth": Desk(worth)})
    engine = Engine(
        searching(search), Untargeted(), broker, constraints=(Constraint(Near(), 0.001),)
    )
    (outcome,) = (o for ended in engine.run([Case("n", Number(10), 0)]) for o in ended)
    assert outcome.status == "held"
