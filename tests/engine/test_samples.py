"""Samples: every one is judged and counted, and none ends the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

import pytest

from brittle.asks import Case, Sample, Search
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.goals import Untargeted
from brittle.targets.capabilities import scores_desk
from engine.numbers import Number
from engine.test_costs import Odd


@dataclass(frozen=True)
class Draws:
    """Samples rounds of numbers; above 500 they win."""

    rounds: Sequence[Sequence[int]]
    asks: ClassVar = (Sample,)

    def __call__(self, case: Case[Number], rng: Random) -> Search[None]:
        for numbers in self.rounds:
            yield from Sample([Number(n) for n in numbers])


def attacked(
    rounds: Sequence[Sequence[int]], budget: int | None = None, fails_alone: Sequence[int] = ()
) -> Outcome:
    broker = Broker({"answer": scores_desk(Odd(fails_alone))}, cache_size=1)
    engine = Engine(Draws(rounds), Untargeted(), broker, budget=budget)
    [[outcome]] = list(engine.run([Case("0", Number(100), 0)]))
    return outcome


@pytest.mark.parametrize("budget", [None, 2, 5, 9, 30, 60])
def test_all_samples_are_counted_within_the_budget(budget: int | None) -> None:
    for seed in range(20):
        rng = Random(seed)
        rounds = [[rng.randrange(1000) for _ in range(rng.randint(1, 20))] for _ in range(3)]
        outcome = attacked(rounds, budget)
        seen = [n for numbers in rounds for n in numbers][: None if budget is None else budget - 1]
        won = [n for n in seen if n > 500]
        assert (outcome.tried, outcome.won, outcome.queries) == (len(seen), len(won), 1 + len(seen))
        if won:
            assert outcome.status == "broken" and outcome.best is not None
            assert int(outcome.best.item) == won[0] and outcome.best.cost is None
            assert outcome.steps[-1] == outcome.best
        else:
            assert outcome.status in ("held", "out of budget")


def test_equal_samples_count_each() -> None:
    outcome = attacked([[600, 600, 200, 200]])
    assert (outcome.tried, outcome.won, outcome.queries) == (4, 2, 5)


def test_a_winner_that_fails_alone_makes_room_for_the_next() -> None:
    outcome = attacked([[600, 200, 700]], fails_alone=[600])
    assert outcome.best is not None
    assert (outcome.status, int(outcome.best.item)) == ("broken", 700)
    outcome = attacked([[600, 200]], fails_alone=[600])
    assert (outcome.status, outcome.tried, outcome.won) == ("unconfirmed", 2, 1)
