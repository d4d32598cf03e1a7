"""The contract that every attack meets, on fake targets: one row an attack."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import brittle.attacks
from brittle.asks import Case, leaves
from brittle.attacks import ATTACKS, recipe
from brittle.attacks.genetic import Genetic
from brittle.attacks.pwws import PWWS
from brittle.attacks.random_swap import RandomSwap
from brittle.attacks.strongest_swap import StrongestSwap
from brittle.attacks.tack_on import TackOn
from brittle.broker import Broker
from brittle.data.example import Example
from brittle.desks import Desk, scores_desk
from brittle.engine import Engine
from brittle.goals import Confident, Untargeted
from brittle.outcomes import Outcome
from brittle.proposals.strong_words import StrongWords
from brittle.proposals.synonyms import Table
from brittle.testing import FakeTarget
from brittle.text import Text

TABLE = Table(
    {
        "good": ("fine", "decent", "sound"),
        "film": ("movie", "picture"),
        "lovely": ("pretty", "fair", "nice"),
        "story": ("tale", "plot"),
        "bad": ("poor", "weak"),
        "very": ("quite",),
    }
)
STRONG = StrongWords.learn(
    [
        Example.of("a good lovely fine film", "positive"),
        Example.of("great great good story", "positive"),
        Example.of("a bad poor film", "negative"),
        Example.of("weak bad awful plot awful", "negative"),
        Example.of("nothing known here", "other"),
    ],
    ["negative", "positive", "other"],
)
ROWS = {
    "pwws": PWWS(TABLE),
    "genetic": Genetic(TABLE, population=8, generations=5, share=0.5),
    "random-swap": RandomSwap(TABLE, share=0.6),
    "strongest-swap": StrongestSwap(STRONG, n=2),
    "tack-on": TackOn(STRONG),
}
TEXTS = [
    "A good film, with a very good story!",
    "lovely",
    "bad bad film",
    "nothing here is known",
    "",
    "…!?",
    "a very lovely story — a <b>good</b> film ❤️",
    "good good good good",
]
WEIGHTS = {"good": 1.0, "lovely": 1.2, "fine": 0.1, "poor": -0.3, "fair": -0.6, "awful": -3.0}
TARGETS = {
    "linear": lambda: FakeTarget(WEIGHTS, spread=0.7),
    "flat": lambda: FakeTarget({}, spread=0.0),
    "three classes": lambda: FakeTarget(WEIGHTS, ("negative", "positive", "other"), spread=0.9),
}


def engine(attack: Any, target: Any, **options: Any) -> Engine:
    desks = {
        "scores": scores_desk(target),
        "tags": Desk(lambda texts: [("NN",) * len(t) for t in texts]),
    }
    return Engine(attack, options.pop("goal", Untargeted()), Broker(desks), **options)


def attacked(attack: Any, target: Any, texts: Any = TEXTS, **options: Any) -> dict[str, Outcome]:
    cases = [Case(f"{i}", Text.of(text), None) for i, text in enumerate(texts)]
    ended = [o for part in engine(attack, target, **options).run(cases) for o in part]
    return {outcome.case.id: outcome for outcome in ended}


def rows(outcomes: dict[str, Outcome]) -> dict[str, Any]:
    return {
        key: (o.status, o.queries, str(o.best.item) if o.best else None, len(o.steps))
        for key, o in outcomes.items()
    }


def test_every_attack_has_a_row() -> None:
    assert set(ROWS) == set(ATTACKS)


each = pytest.mark.parametrize(
    ("attack", "target"),
    [(a, t) for a in ROWS for t in TARGETS],
)


@each
def test_same_seed_same_result(attack: str, target: str) -> None:
    assert rows(attacked(ROWS[attack], TARGETS[target]())) == rows(
        attacked(ROWS[attack], TARGETS[target]())
    )


@each
def test_alone_equals_interleaved(attack: str, target: str) -> None:
    together = rows(attacked(ROWS[attack], TARGETS[target]()))
    alone = rows(attacked(ROWS[attack], TARGETS[target](), window=1, admit=1))
    shuffled = TEXTS[::-1]
    assert together == alone
    desks = engine(ROWS[attack], TARGETS[target]())
    cases = [Case(f"{TEXTS.index(t)}", Text.of(t), None) for t in shuffled]
    other = {o.case.id: o for part in desks.run(cases) for o in part}
    assert rows(other) == together


@each
def test_replay_costs_no_call(attack: str, target: str) -> None:
    fake = TARGETS[target]()
    desks = engine(ROWS[attack], fake)
    cases = [Case(f"{i}", Text.of(text), None) for i, text in enumerate(TEXTS)]
    first = {o.case.id: o for part in desks.run(cases) for o in part}
    sent = sum(fake.calls)
    again = {o.case.id: o for part in desks.run(cases) for o in part}
    winners = {str(o.best.item) for o in first.values() if o.status == "won" and o.best}
    assert rows(again) == rows(first)
    assert sum(fake.calls) - sent == len(winners)  # only the winners, each scored again alone


@each
@pytest.mark.parametrize("budget", [1, 2, 5, 17])
def test_never_past_the_budget(attack: str, target: str, budget: int) -> None:
    free = attacked(ROWS[attack], TARGETS[target]())
    outcomes = attacked(ROWS[attack], TARGETS[target](), budget=budget)
    for key, outcome in outcomes.items():
        assert outcome.queries <= budget
        if free[key].queries <= budget:
            assert rows({"": outcome}) == rows({"": free[key]})
        else:
            assert outcome.status in ("spent", "won")


@each
def test_input_is_unchanged_and_edits_keep_the_frame(attack: str, target: str) -> None:
    outcomes = attacked(ROWS[attack], TARGETS[target]())
    for key, outcome in outcomes.items():
        assert str(outcome.case.text) == TEXTS[int(key)]
        if outcome.best is not None:
            assert outcome.best.item.frame == outcome.case.text.frame


@each
def test_locked_fields_are_never_edited(attack: str, target: str) -> None:
    pair = Text.of({"premise": "a good film", "hypothesis": "a lovely story"}, locked=["premise"])
    desks = engine(ROWS[attack], TARGETS[target]())
    for part in desks.run([Case("0", pair, None)]):
        for step in part[0].steps:
            assert step.item.fields()["premise"] == "a good film"


@each
def test_asks_only_what_it_declares(attack: str, target: str) -> None:
    fake, chosen = TARGETS[target](), ROWS[attack]
    desks = engine(chosen, fake)
    seen: Counter[type] = Counter()
    plan = desks._plan

    def watching(r: Any) -> None:
        seen.update(type(leaf) for leaf in leaves(r.ask))
        plan(r)

    desks._plan = watching  # type: ignore[method-assign]
    list(desks.run([Case("0", Text.of(TEXTS[0]), None)]))
    assert set(seen) <= set(chosen.asks)
    assert seen


@each
def test_a_win_is_a_win_and_a_loss_is_not(attack: str, target: str) -> None:
    fake = TARGETS[target]()
    for outcome in attacked(ROWS[attack], fake).values():
        if outcome.best is not None:
            predicted = int(fake.scores([outcome.best.item])[0].argmax())
            assert (predicted != outcome.case.label) == (outcome.status == "won")


@each
def test_a_confidence_goal_is_harder(attack: str, target: str) -> None:
    easy = attacked(ROWS[attack], TARGETS[target]())
    hard = attacked(ROWS[attack], TARGETS[target](), goal=Confident(Untargeted(), 0.9))
    for outcome in hard.values():
        if outcome.status == "won" and outcome.best:
            assert max(outcome.best.payload) >= 0.9
    wins = [sum(o.status == "won" for o in part.values()) for part in (easy, hard)]
    assert wins[1] <= wins[0]


@pytest.mark.parametrize("attack", ROWS)
def test_searches_do_not_read_clocks_sets_or_their_own_randomness(attack: str) -> None:
    source = inspect.getsource(inspect.getmodule(type(ROWS[attack])) or brittle.attacks)
    for word in ("import time", "import random", "np.random", "set("):
        assert word not in source


def test_no_bare_yield_in_the_attacks() -> None:
    folder = Path(brittle.attacks.__file__).parent
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text())
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Yield)], path


@pytest.mark.parametrize("attack", ["pwws", "genetic", "random-swap"])
def test_recipes_make_the_attack_with_its_settings(attack: str) -> None:
    made = recipe(attack)(share=0.1)
    assert type(made) is type(ROWS[attack])
    assert made.share == 0.1  # type: ignore[attr-defined]


@pytest.mark.parametrize("attack", ROWS)
def test_attacks_win_somewhere(attack: str) -> None:
    """Guard against a contract that holds because nothing ever happens."""
    outcomes = attacked(ROWS[attack], TARGETS["linear"]()).values()
    status = Counter(outcome.status for outcome in outcomes)
    assert set(status) == {"won", "lost", "skipped"}
    assert all(outcome.queries > 1 for outcome in outcomes if outcome.status == "won")
