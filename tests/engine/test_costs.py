"""Going on after a win: the cheapest winner is kept, against a plain reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest

from brittle.asks import Case, Probe, Search, Try
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import MAX_WINNERS, Outcome
from brittle.goals import Untargeted
from brittle.targets.capabilities import scores_desk
from engine.numbers import Number


class Odd:
    """The second class is as probable as n is large; asked alone, some numbers never win."""

    name, fingerprint, labels = "odd", "odd", ("low", "high")

    def __init__(self, fails_alone: Sequence[int] = ()) -> None:
        self.fails_alone = fails_alone

    def scores(self, items: Sequence[Number]) -> Any:
        high = np.array([n / 1000 for n in items])
        if len(items) == 1 and items[0] in self.fails_alone:
            high[:] = 0.0
        return np.stack([1 - high, high], axis=1)


@dataclass(frozen=True)
class Offers:
    """Offers rounds of numbers with costs."""

    rounds: Sequence[Sequence[tuple[int, float]]]
    asks: ClassVar = (Probe, Try)

    def __call__(self, case: Case[Number], rng: Random) -> Search[None]:
        for offers in self.rounds:
            yield from Try([Number(n) for n, _ in offers], cost=[cost for _, cost in offers])


def attacked(rounds: Any, budget: int | None = None, fails_alone: Sequence[int] = ()) -> Outcome:
    broker = Broker({"answer": scores_desk(Odd(fails_alone))}, cache_size=1)
    engine = Engine(Offers(rounds), Untargeted(), broker, budget=budget)
    [[outcome]] = list(engine.run([Case("0", Number(100), 0)]))
    return outcome


def best_so_far(rounds: Any, budget: int | None) -> list[tuple[int, int, float]]:
    """List query, number and cost of every winner that is cheaper than all before it."""
    flat = [offer for offers in rounds for offer in offers][
        : None if budget is None else budget - 1
    ]
    best: list[tuple[int, int, float]] = []
    for query, (number, cost) in enumerate(flat, 2):
        if number > 500 and (not best or cost < best[-1][2]):
            best.append((query, number, cost))
    return best


@pytest.mark.parametrize("seed", range(40))
def test_the_cheapest_winner_at_every_query(seed: int) -> None:
    rng = Random(seed)
    rounds = [
        [(rng.randrange(200, 700), float(rng.randrange(30))) for _ in range(rng.randrange(1, 7))]
        for _ in range(rng.randrange(1, 6))
    ]
    asked = sum(map(len, rounds))
    for budget in (None, *range(2, asked + 3)):
        outcome = attacked(rounds, budget)
        expected = best_so_far(rounds, budget)
        assert outcome.queries == min(asked + 1, budget or asked + 1)
        if not expected:
            is_cut = budget is not None and budget < asked + 1
            assert outcome.status == ("out of budget" if is_cut else "held")
            continue
        query, number, cost = expected[-1]
        assert outcome.status == "broken" and outcome.best is not None
        best = (outcome.best.query, int(outcome.best.item), outcome.best.cost)
        assert best == (query, number, cost)
        wins = [(s.query, int(s.item), s.cost) for s in outcome.steps if s.loss > 0.5]
        assert wins == expected, "cost against queries is a curve from one run"


def test_until_the_first_win_steps_come_nearer() -> None:
    outcome = attacked([[(300, 9.0), (200, 1.0), (400, 5.0)], [(600, 8.0), (900, 9.0), (550, 2.0)]])
    steps = [(step.query, int(step.item), step.cost) for step in outcome.steps]
    assert steps == [(1, 100, None), (2, 300, None), (4, 400, None), (5, 600, 8.0), (7, 550, 2.0)]


def test_a_winner_that_fails_alone_gives_way_to_the_next_cheapest() -> None:
    rounds = [[(600, 3.0), (700, 2.0)], [(800, 1.0), (900, 5.0)]]
    outcome = attacked(rounds, fails_alone=[800, 700])
    assert outcome.status == "broken" and outcome.best is not None
    assert (int(outcome.best.item), outcome.best.cost) == (600, 3.0)
    none = attacked(rounds, fails_alone=[600, 700, 800, 900])
    assert none.status == "unconfirmed" and none.reason == "scored again alone, it no longer wins"


def test_what_failed_alone_is_no_step() -> None:
    rounds = [[(600, 3.0)], [(800, 1.0)], [(700, 2.0)]]
    outcome = attacked(rounds, fails_alone=[800])
    assert [(s.query, s.cost) for s in outcome.steps] == [(1, None), (2, 3.0), (4, 2.0)]


def test_copies_of_one_item_are_one_winner() -> None:
    copies = [(600, 1.0 + n / 100) for n in range(40)]
    outcome = attacked([copies, [(700, 5.0)]], fails_alone=[600])
    assert outcome.status == "broken" and outcome.best is not None
    assert (int(outcome.best.item), outcome.best.cost) == (700, 5.0)
    cheaper = attacked([[(600, 3.0)], [(600, 1.0)]])
    assert cheaper.best is not None and cheaper.best.cost == 1.0


def test_winners_are_kept_in_a_bounded_list() -> None:
    many = [(600 + n, float(n)) for n in range(3 * MAX_WINNERS)]
    Random(0).shuffle(many)
    fails = [600 + n for n in range(MAX_WINNERS - 1)]
    outcome = attacked([many], fails_alone=fails)
    assert outcome.best is not None and outcome.best.cost == MAX_WINNERS - 1
    assert attacked([many], fails_alone=[*fails, 600 + MAX_WINNERS - 1]).status == "unconfirmed"


def test_an_attack_that_raises_after_a_win_is_an_error() -> None:
    class Raises(Offers):
        def __call__(self, case: Case[Number], rng: Random) -> Search[None]:
            yield from super().__call__(case, rng)
            raise ValueError("no more")

    engine = Engine(Raises([[(600, 1.0)]]), Untargeted(), Broker({"answer": scores_desk(Odd())}))
    [[outcome]] = list(engine.run([Case("0", Number(100), 0)]))
    assert outcome.status == "error" and "no more" in outcome.reason


def test_costs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="2 costs for 1 items"):
        Try([Number(1)], cost=[1.0, 2.0])
    with pytest.raises(ValueError, match="in_order=False, because"):
        Try([Number(1)], in_order=True, cost=[1.0])
