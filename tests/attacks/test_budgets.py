"""A larger budget never breaks fewer cases, and no case ends with budget unspent."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from attacks.test_contract import ROWS
from brittle.asks import Case, Gradient, uses_budget
from brittle.attacks import ATTACKS, recipe
from brittle.candidates.characters import CLASSES
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.goals import Untargeted
from brittle.levels import rank
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeInside, FakeNetwork
from brittle.text import Text

BUDGETS = (*range(5, 40, 3), 50, 64, 80, 100, 128, 150, 200, 250, 300)
WORDS = ("good", "film", "lovely", "story", "bad", "very", "the", "with")


class Labels(FakeInside):
    """A fake that answers labels only."""

    label_only = True

    def scores(self, items: Any) -> Any:
        return np.eye(len(self.labels))[super().scores(items).argmax(axis=1)]


TARGETS: dict[str, Any] = {
    "two classes": lambda: FakeNetwork(WORDS, "abcde", spread=1.2),
    "three classes": lambda: FakeInside(labels=("no", "yes", "so"), spread=0.6),
    "labels": lambda: Labels(spread=0.8),
}
SPENDERS = [name for name, attack in ROWS.items() if uses_budget(attack)]
DRAWN = Random(5)
TEXTS = [" ".join(DRAWN.choices(WORDS, k=DRAWN.randint(3, 14))) for _ in range(40)]
FEW = 10
"""So many texts suffice in a quick test; the slow ones have all of them."""


def outcomes_of(name: str, target: str, budget: int, texts: int) -> dict[str, Outcome]:
    engine = Engine(
        ROWS[name], Untargeted(), Broker(make_desks(TARGETS[target]())), name, budget=budget
    )
    cases = [Case(str(n), Text.of(text)) for n, text in enumerate(TEXTS[:texts])]
    return {outcome.case.id: outcome for part in engine.run(cases) for outcome in part}


def test_attacks_that_look_at_the_budget_are_held_to_it() -> None:
    declared = {name for name in ATTACKS if name in ROWS and uses_budget(ROWS[name])}
    own = {"auto", "rewrite", "pwws", "salient-swap", "genetic"}
    assert declared == {*own, *CLASSES} == set(SPENDERS)
    assert all(recipe(name) for name in SPENDERS)


@pytest.mark.parametrize(
    ("target", "texts"),
    [
        pytest.param("two classes", FEW, id="two classes, few texts"),
        *(pytest.param(name, len(TEXTS), marks=pytest.mark.slow, id=name) for name in TARGETS),
    ],
)
@pytest.mark.parametrize("name", SPENDERS)
def test_a_larger_budget_never_breaks_fewer_nor_more_roughly(
    name: str, target: str, texts: int
) -> None:
    assert Gradient not in ROWS[name].asks  # type: ignore[attr-defined]
    former: dict[str, Outcome] = {}
    broken = []
    for budget in BUDGETS:
        outcomes = outcomes_of(name, target, budget, texts)
        for case, outcome in outcomes.items():
            assert outcome.queries <= budget
            if outcome.status == "out of budget":
                assert outcome.queries == budget, "no budget is left unspent"
            if case in former and former[case].status == "broken":
                assert outcome.status == "broken", (budget, TEXTS[int(case)])
                levels = [one.best.level for one in (former[case], outcome) if one.best is not None]
                if levels[0] is not None:
                    assert rank(str(levels[1])) <= rank(levels[0])
        former = outcomes
        broken.append(sum(outcome.status == "broken" for outcome in outcomes.values()))
    # Of these fakes only the network of characters tells upper from lower case.
    assert broken[-1] > broken[0] or (name == "case" and target != "two classes")
