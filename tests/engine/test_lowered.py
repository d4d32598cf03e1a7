"""Candidates in a lower precision: what wins, what is stored, and what is not said to be proved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import numpy as np

from brittle.asks import ANSWER, CANDIDATE, Case, Note, Probe, Search, Try
from brittle.engine.broker import Broker
from brittle.engine.desks import Desk
from brittle.engine.engine import Engine
from brittle.engine.lowered import NOT_PROVED
from brittle.engine.running import Outcome
from brittle.errors import TargetError
from brittle.goals import Untargeted
from engine.numbers import Number


class Scale:
    """The probability of the second class is a number in percent, or what is known of it."""

    def __init__(self, offset: int = 0, known: Mapping[int, int] = {}, fails: bool = False) -> None:
        self.offset, self.known, self.fails = offset, known, fails
        self.asked: list[list[int]] = []

    def __call__(self, items: Sequence[Number]) -> list[Any]:
        self.asked.append([int(n) for n in items])
        if self.fails and len(self.asked) > 1:
            raise TargetError("no answer")
        high = np.array([(self.known.get(n, n) + self.offset) / 100 for n in items])
        return list(np.stack([1 - high, high], axis=1).tolist())


class Searches:
    asks = (Probe, Try)

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, case: Case[Number], rng: Random) -> Search[None]:
        return self.function(case)  # type: ignore[no-any-return]


def run(function: Any, exact: Scale, rough: Scale | None) -> Outcome:
    desks = {ANSWER: Desk(exact, counted=True)}
    if rough is not None:
        desks[CANDIDATE] = Desk(rough, counted=True)
    engine = Engine(Searches(function), Untargeted(), Broker(desks))
    [[outcome]] = list(engine.run([Case("0", Number(10), 0)]))
    return outcome


def offer(*numbers: int, **options: Any) -> Any:
    def search(case: Case[Number]) -> Search[None]:
        yield from Try([Number(n) for n in numbers], **options)

    return search


def test_candidates_are_asked_in_one_precision_and_originals_and_winners_in_the_other() -> None:
    exact, rough = Scale(), Scale(1)

    def search(case: Case[Number]) -> Search[None]:
        answer = yield from Probe([Number(20)])
        assert answer.loss[0] == 0.21
        yield from Try([Number(30), Number(80)])

    outcome = run(search, exact, rough)
    assert rough.asked == [[20], [30, 80]]
    assert exact.asked[:2] == [[10], [80]]
    assert outcome.status == "broken" and outcome.queries == 4
    assert [step.loss for step in outcome.steps] == [0.10, 0.30, 0.80]
    assert outcome.best is not None and np.allclose(outcome.best.payload, [0.2, 0.8])


def test_a_winner_in_the_lower_precision_alone_is_unconfirmed() -> None:
    outcome = run(offer(40, 45), Scale(), Scale(10))
    assert outcome.status == "unconfirmed"
    assert outcome.best is not None and outcome.best.loss == 0.45


def test_an_improvement_that_wins_in_float32_alone_is_broken_with_it() -> None:
    outcome = run(offer(40, 55), Scale(), Scale(-10))
    assert outcome.status == "broken" and outcome.reason == ""
    assert outcome.best is not None and outcome.best.item == 55 and outcome.best.loss == 0.55
    assert outcome.queries == 3 and outcome.steps[-1] == outcome.best


def test_what_gains_nothing_in_float32_is_no_step() -> None:
    outcome = run(offer(20, 30), Scale(known={20: 25, 30: 15}), Scale())
    assert outcome.status == "held"
    assert [step.loss for step in outcome.steps] == [0.10, 0.25]


def test_nothing_is_proved_and_levels_that_broke_in_the_lower_precision_alone_held() -> None:
    def proves(case: Case[Number]) -> Search[None]:
        yield from Try([Number(20)])
        yield from Note(level=("careful", "proved"), proved_words=2)
        yield from Note(is_whole=True)

    assert run(proves, Scale(), None).status == "proved"
    outcome = run(proves, Scale(), Scale(1))
    assert (outcome.status, outcome.reason) == ("held", NOT_PROVED)
    assert outcome.levels == {"careful": "held"} and outcome.proved_words is None

    def breaks(case: Case[Number]) -> Search[None]:
        yield from Try([Number(45)], cost=[1.0], level="careful")
        yield from Note(level=("careful", "broken"))
        yield from Try([Number(60)], cost=[2.0], level="loose")
        yield from Note(level=("loose", "broken"))

    outcome = run(breaks, Scale(), Scale(10))
    assert outcome.status == "broken" and outcome.best is not None
    assert outcome.best.level == "loose"
    assert outcome.levels == {"careful": "held", "loose": "broken"}
    assert [step.item for step in outcome.steps] == [10, 60]


def test_a_failure_in_float32_is_an_error_of_its_case() -> None:
    outcome = run(offer(20), Scale(fails=True), Scale())
    assert (outcome.status, outcome.reason) == ("error", "no answer")
