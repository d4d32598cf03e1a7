"""PWWS under budgets."""

from __future__ import annotations

from random import Random

from brittle.asks import Case
from brittle.attacks.pwws import PWWS
from brittle.candidates.synonyms import SubstituteTable
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.goals import Untargeted
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeTarget
from brittle.text import Text


def test_a_larger_budget_never_breaks_fewer() -> None:
    """Ten words of three candidates: masks and candidates take 40 queries, the path up to ten."""
    words = [f"w{i}" for i in range(10)]
    table = {word: tuple(f"{word}{c}" for c in "abc") for word in words}
    counts = []
    for budget in (20, 30, 38, 41, 42, 43, 46, 51, 60):
        counts.append(0)
        for seed in range(12):
            rng = Random(seed)
            weights = {word: rng.uniform(0, 1) for word in words}
            weights |= {new: rng.uniform(-1, 1) for row in table.values() for new in row}
            broker = Broker(make_desks(FakeTarget(weights, spread=0)))
            attack = PWWS(SubstituteTable(table))
            engine = Engine(attack, Untargeted(), broker, "pwws", budget=budget)
            (outcome,) = next(engine.run([Case("one", Text.of(" ".join(words)))]))
            broker.close()
            counts[-1] += outcome.status == "broken"
    assert counts == sorted(counts) and counts[-1] == 12
