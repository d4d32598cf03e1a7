"""The contract that every attack meets, on fake targets: one row an attack."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import brittle.attacks
from brittle.asks import Case, Flips, leaves
from brittle.attacks import ATTACKS, recipe
from brittle.attacks.genetic import Genetic
from brittle.attacks.hotflip import HotFlip
from brittle.attacks.hotflip_words import HotFlipWords
from brittle.attacks.jsma import JSMA
from brittle.attacks.key import Key
from brittle.attacks.pwws import PWWS
from brittle.attacks.random_swap import RandomSwap
from brittle.attacks.strongest_swap import StrongestSwap
from brittle.attacks.tack_on import TackOn
from brittle.data.example import Example
from brittle.engine.broker import Broker
from brittle.engine.desks import Desk
from brittle.engine.engine import Engine
from brittle.engine.outcomes import Outcome
from brittle.engine.running import RunningCase
from brittle.goals import Confident, Untargeted
from brittle.proposals.strong_words import StrongWords
from brittle.proposals.synonyms import SubstituteTable
from brittle.targets.desks import make_desks
from brittle.testing import FakeNetwork, FakeTarget
from brittle.text import Text

TABLE = SubstituteTable(
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
    "hotflip": HotFlip(beam=3, share=0.1),
    "hotflip-words": HotFlipWords(beam=3, cosine=0.3),
    "key": Key(share=0.1, draws=2),
    "key-any": Key(anywhere=True, share=0.1, draws=2),
    "jsma": JSMA(words=1),
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
THREE = ("negative", "positive", "other")
TARGETS = {
    "linear": lambda: FakeTarget(WEIGHTS, spread=0.7),
    "flat": lambda: FakeTarget({}, spread=0.0),
    "three classes": lambda: FakeTarget(WEIGHTS, THREE, spread=0.9),
}
WORDS = ("good", "film", "lovely", "story", "plot", "nice", "Fine", "tale", "--")
NETWORKS = {
    "linear": lambda: FakeNetwork(WORDS, "abcde", spread=2.0, max_words=7),
    "flat": lambda: FakeNetwork(WORDS, "abcde", spread=0.0),
    "three classes": lambda: FakeNetwork(WORDS, "abcde", THREE, spread=2.0, max_words=7),
}


def target_of(attack: str, name: str) -> Any:
    """Make a fake that offers what an attack asks."""
    return (NETWORKS if Flips in ROWS[attack].asks else TARGETS)[name]()  # type: ignore[attr-defined]


def engine(attack: Any, target: Any, **options: Any) -> Engine:
    tags = Desk(lambda texts: [("NN",) * len(t) for t in texts])
    broker = Broker(make_desks(target) | {"tags": tags})
    return Engine(attack, options.pop("goal", Untargeted()), broker, **options)


def case_of(number: int, source: str | Text, target: Any) -> Case[Text]:
    text = Text.of(source) if isinstance(source, str) else source
    read_positions = target.words_read([text])[0] if hasattr(target, "words_read") else None
    return Case(f"{number}", text, None, read_positions=read_positions)


def cases_of(target: Any, texts: Any = TEXTS) -> list[Case[Text]]:
    return [case_of(i, text, target) for i, text in enumerate(texts)]


def attacked(attack: Any, target: Any, texts: Any = TEXTS, **options: Any) -> dict[str, Outcome]:
    cases = cases_of(target, texts)
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
    assert rows(attacked(ROWS[attack], target_of(attack, target))) == rows(
        attacked(ROWS[attack], target_of(attack, target))
    )


@each
def test_alone_equals_interleaved(attack: str, target: str) -> None:
    fake = target_of(attack, target)
    together = rows(attacked(ROWS[attack], fake))
    alone = rows(attacked(ROWS[attack], target_of(attack, target), window=1, admit=1))
    assert together == alone
    made = engine(ROWS[attack], target_of(attack, target))
    other = {o.case.id: o for part in made.run(cases_of(fake)[::-1]) for o in part}
    assert rows(other) == together


@each
def test_replay_costs_no_call(attack: str, target: str) -> None:
    fake = target_of(attack, target)
    made = engine(ROWS[attack], fake)
    cases = cases_of(fake)
    first = {o.case.id: o for part in made.run(cases) for o in part}
    sent, passes = sum(fake.calls), sum(getattr(fake, "passes", ()))
    again = {o.case.id: o for part in made.run(cases) for o in part}
    winners = {str(o.best.item) for o in first.values() if o.status == "broken" and o.best}
    assert rows(again) == rows(first)
    assert sum(fake.calls) - sent == len(winners)  # only the winners, each scored again alone
    assert sum(getattr(fake, "passes", ())) == passes


@each
@pytest.mark.parametrize("budget", [1, 2, 5, 17])
def test_never_past_the_budget(attack: str, target: str, budget: int) -> None:
    free = attacked(ROWS[attack], target_of(attack, target))
    outcomes = attacked(ROWS[attack], target_of(attack, target), budget=budget)
    for key, outcome in outcomes.items():
        assert outcome.queries <= budget
        if free[key].queries <= budget:
            assert rows({"": outcome}) == rows({"": free[key]})
        else:
            assert outcome.status in ("out of budget", "broken")


@each
def test_input_is_unchanged_and_edits_keep_the_frame(attack: str, target: str) -> None:
    outcomes = attacked(ROWS[attack], target_of(attack, target))
    for key, outcome in outcomes.items():
        assert str(outcome.case.text) == TEXTS[int(key)]
        if outcome.best is not None:
            assert outcome.best.item.frame == outcome.case.text.frame


@each
def test_locked_fields_are_never_edited(attack: str, target: str) -> None:
    pair = Text.of({"premise": "a good film", "hypothesis": "a lovely story"}, locked=["premise"])
    fake = target_of(attack, target)
    for part in engine(ROWS[attack], fake).run([case_of(0, pair, fake)]):
        for step in part[0].steps:
            assert step.item.fields()["premise"] == "a good film"


@each
def test_asks_only_what_it_declares(
    attack: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, chosen = target_of(attack, target), ROWS[attack]
    seen: Counter[type] = Counter()
    make_plan = RunningCase.make_plan

    def watch(r: RunningCase, budget: int | None) -> None:
        seen.update(type(leaf) for leaf in leaves(r.ask))
        make_plan(r, budget)

    monkeypatch.setattr(RunningCase, "make_plan", watch)
    list(engine(chosen, fake).run(cases_of(fake, TEXTS[:1])))
    assert set(seen) <= set(chosen.asks)
    assert seen


@each
def test_a_win_is_a_win_and_a_loss_is_not(attack: str, target: str) -> None:
    fake = target_of(attack, target)
    for outcome in attacked(ROWS[attack], fake).values():
        if outcome.best is not None:
            predicted = int(fake.scores([outcome.best.item])[0].argmax())
            assert (predicted != outcome.case.label) == (outcome.status == "broken")


@each
def test_a_confidence_goal_is_harder(attack: str, target: str) -> None:
    easy = attacked(ROWS[attack], target_of(attack, target))
    hard = attacked(ROWS[attack], target_of(attack, target), goal=Confident(Untargeted(), 0.9))
    for outcome in hard.values():
        if outcome.status == "broken" and outcome.best:
            assert max(outcome.best.payload) >= 0.9
    wins = [sum(o.status == "broken" for o in part.values()) for part in (easy, hard)]
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


@each
def test_only_words_the_target_reads_are_edited(attack: str, target: str) -> None:
    fake = target_of(attack, target)
    for outcome in attacked(ROWS[attack], fake).values():
        read = case_of(0, outcome.case.text, fake).positions
        for step in outcome.steps:
            pairs = zip(step.item.words, outcome.case.text.words)
            assert {i for i, (new, old) in enumerate(pairs) if new != old} <= {*read}


@pytest.mark.parametrize("attack", ["pwws", "genetic", "random-swap", "hotflip", "key", "key-any"])
def test_recipes_make_the_attack_with_its_settings(attack: str) -> None:
    made = recipe(attack)(share=0.1)
    assert type(made) is type(ROWS[attack])
    assert made.share == 0.1  # type: ignore[attr-defined]


@pytest.mark.parametrize("attack", ROWS)
def test_attacks_win_somewhere(attack: str) -> None:
    """Guard against a contract that holds because nothing ever happens."""
    outcomes = attacked(ROWS[attack], target_of(attack, "linear")).values()
    status = Counter(outcome.status for outcome in outcomes)
    assert set(status) == {"broken", "held", "skipped"}
    assert all(outcome.queries > 1 for outcome in outcomes if outcome.status == "broken")
