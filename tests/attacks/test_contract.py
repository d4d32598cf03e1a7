"""The contract that every attack meets, on fake targets: one row an attack."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import brittle.attacks
from brittle.asks import UNTRIED, Ask, Case, Flips, Gradient, Try, leaves, uses_budget
from brittle.attacks import ATTACKS, recipe
from brittle.attacks.auto import Auto
from brittle.attacks.bad_characters import BadCharacters
from brittle.attacks.baselines import RandomSwap, RandomWord
from brittle.attacks.characters import Append, CharacterSwap
from brittle.attacks.charmer import Charmer
from brittle.attacks.deepwordbug import DeepWordBug
from brittle.attacks.exhaustive import Exhaustive
from brittle.attacks.genetic import Genetic
from brittle.attacks.hotflip import HotFlip, HotFlipWords
from brittle.attacks.jsma import JSMA
from brittle.attacks.pwws import PWWS
from brittle.attacks.rules import ApplyRules
from brittle.attacks.salient_swap import GradientSwap, SalientSwap
from brittle.attacks.spot_swap import ListSwap, SpotSwap
from brittle.attacks.strong_words import StrongestSwap, TackOn
from brittle.attacks.substitutes import ByAttention, ByEmbeddingDistance, ByErasure, InRandomOrder
from brittle.attacks.textbugger import TextBugger
from brittle.attacks.typing_errors import Key, Typo
from brittle.candidates.characters import CLASSES, EditedCharacters
from brittle.candidates.rewrites import Rewrites
from brittle.candidates.rules import Rule, Rules
from brittle.candidates.strong_words import StrongWords
from brittle.candidates.synonyms import SubstituteTable
from brittle.candidates.typos import Typos
from brittle.data.example import Example
from brittle.engine.broker import Broker
from brittle.engine.desks import Desk
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome, RunningCase
from brittle.goals import Confident, Untargeted
from brittle.levels import LEVELS
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeInside, FakeNetwork
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
RULES = Rules(
    ("negative", "positive", "other"),
    tuple(
        Rule(label, word, substitute, 1.0 + len(word) / (1 + rank), 1)
        for label in ("negative", "positive", "other")
        for word, substitutes in TABLE.entries.items()
        for rank, substitute in enumerate(substitutes)
    ),
)
GENTLE = SubstituteTable({"good": ("fine",), "story": ("tale", "plot")})
VOCABULARY = ("good", "film", "poor", "Fair", "plot", "nice", "lovely", "well-made", "fine")
ROWS = {
    "auto": Auto(((LEVELS["careful"], GENTLE), (LEVELS["any"], TABLE)), random_edits=2),
    "rewrite": Auto(((LEVELS["rewrite"], Rewrites()),)),
    "pwws": PWWS(TABLE),
    "salient-swap": SalientSwap(TABLE),
    "gradient-swap": GradientSwap(TABLE),
    "genetic": Genetic(TABLE, population=8, generations=5, share=0.5),
    "exhaustive": Exhaustive(TABLE, words=2),
    "random-swap": RandomSwap(TABLE, share=0.6),
    "strongest-swap": StrongestSwap(STRONG, n=2),
    "rules": ApplyRules(RULES, RULES.labels, share=0.6, proposal=TABLE),
    "tack-on": TackOn(STRONG),
    "hotflip": HotFlip(beam=3, share=0.1),
    "hotflip-words": HotFlipWords(beam=3, cosine=0.3),
    "key": Key(share=0.1, draws=2),
    "key-any": Key(anywhere=True, share=0.1, draws=2),
    "jsma": JSMA(words=1),
    "typo": Typo(Typos(TABLE.entries), words=2, draws=3),
    "gs-gr": SpotSwap(ByErasure(), InRandomOrder(VOCABULARY), words=2),
    "gs-ec": SpotSwap(ByErasure(), ByEmbeddingDistance(VOCABULARY)),
    "asmin-gr": SpotSwap(ByAttention(lowest=True), InRandomOrder(VOCABULARY)),
    "asmin-ec": SpotSwap(ByAttention(lowest=True), ByEmbeddingDistance(VOCABULARY)),
    "asmax-gr": SpotSwap(ByAttention(layer="last"), InRandomOrder(VOCABULARY)),
    "asmax-ec": SpotSwap(ByAttention(of="words"), ByEmbeddingDistance(VOCABULARY, nearest=4)),
    "list": ListSwap(TABLE),
    "random-word": RandomWord(VOCABULARY, draws=20),
    **{name: CharacterSwap(EditedCharacters(name, most=2), share=0.3) for name in CLASSES},
    "append": Append(("fine", "poor", "Awful")),
    "bad-characters": BadCharacters(edits=2, population=6, iterations=2),
    "deepwordbug": DeepWordBug(max_distance=2),
    "textbugger": TextBugger(TABLE),
    "charmer": Charmer("ax ", places=3, rounds=2),
}
REFRAMING = ("rewrite", "append", "bad-characters", "charmer")
"""Attacks that edit more than words: phrases, or what stands between words."""
OTHER_ROWS = ("fgsm", "noise", "natural")
"""Attacks that edit no words: test_pictures.py and test_natural.py hold them to the contract."""
TEXTS = [
    "A good film, with a very good story!",
    "lovely",
    "bad bad film",
    "nothing here is known",
    "",
    "…!?",
    "a very lovely story — a <b>good</b> film ❤️",
    "good good good good",
    "very awful indeed",
]
WEIGHTS = {"good": 1.0, "lovely": 1.2, "fine": 0.1, "poor": -0.3, "fair": -0.6, "awful": -3.0}
THREE = ("negative", "positive", "other")
TARGETS = {
    "linear": lambda: FakeInside(WEIGHTS, spread=0.7),
    "flat": lambda: FakeInside({}, spread=0.0),
    "three classes": lambda: FakeInside(WEIGHTS, THREE, spread=0.9),
}
WORDS = ("good", "film", "lovely", "story", "plot", "nice", "Fine", "tale", "--")
NETWORKS = {
    "linear": lambda: FakeNetwork(WORDS, "abcde", spread=2.0, max_words=7),
    "flat": lambda: FakeNetwork(WORDS, "abcde", spread=0.0),
    "three classes": lambda: FakeNetwork(WORDS, "abcde", THREE, spread=2.0, max_words=7),
}


def target_of(attack: str, name: str) -> Any:
    """Make a fake that offers what an attack asks."""
    asks = ROWS[attack].asks  # type: ignore[attr-defined]
    return (NETWORKS if {Flips, Gradient} & {*asks} else TARGETS)[name]()


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
    assert {*ROWS, *OTHER_ROWS} == set(ATTACKS)


@cache
def outcomes_of(attack: str, target: str) -> dict[str, Outcome]:
    """Return the outcomes of a plain run, which many tests compare with."""
    return attacked(ROWS[attack], target_of(attack, target))


Asked = list[tuple[Case[Text], Ask[Any]]]


@contextmanager
def watched() -> Iterator[Asked]:
    """List every plain question that a search asks, with its case."""
    asked: Asked = []
    make_plan = RunningCase.make_plan

    def watch(r: RunningCase, budget: int | None) -> None:
        asked.extend((r.case, leaf) for leaf in leaves(r.ask))
        make_plan(r, budget)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunningCase, "make_plan", watch)
        yield asked


def questions(asked: Asked) -> dict[str, list[tuple[str, list[str]]]]:
    """Return what was asked about each case, in order."""
    by_case: dict[str, list[tuple[str, list[str]]]] = {}
    for case, ask in asked:
        row = (type(ask).__name__, [str(item) for item in ask.items])
        by_case.setdefault(case.id, []).append(row)
    return by_case


def candidates(asked: Asked) -> list[tuple[Text, Text]]:
    """Return every candidate offered, with its original."""
    return [(case.text, item) for case, ask in asked if isinstance(ask, Try) for item in ask.items]


each = pytest.mark.parametrize(
    ("attack", "target"),
    [(a, t) for a in ROWS for t in TARGETS],
)
# Where a candidate can win, and where none can, so that a search offers all it has.
open_and_flat = pytest.mark.parametrize(
    ("attack", "target"),
    [(a, t) for a in ROWS for t in ("linear", "flat")],
)
winnable = pytest.mark.parametrize(
    ("attack", "target"),
    [(a, t) for a in ROWS for t in ("linear", "three classes")],
)


@each
def test_same_seed_same_questions_and_result(attack: str, target: str) -> None:
    with watched() as first:
        once = attacked(ROWS[attack], target_of(attack, target))
    with watched() as second:
        again = attacked(ROWS[attack], target_of(attack, target))
    assert questions(first) == questions(second) != {}
    assert rows(once) == rows(again) == rows(outcomes_of(attack, target))


@open_and_flat
def test_alone_equals_interleaved(attack: str, target: str) -> None:
    together = rows(outcomes_of(attack, target))
    fake = target_of(attack, target)
    assert rows(attacked(ROWS[attack], fake, window=1, admit=1)) == together
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


@open_and_flat
def test_never_past_the_budget(attack: str, target: str) -> None:
    free = outcomes_of(attack, target)
    for budget in (1, 2, 5, 17):
        fake = target_of(attack, target)
        outcomes = attacked(ROWS[attack], fake, budget=budget)
        for key, outcome in outcomes.items():
            assert outcome.queries <= budget
            if free[key].queries <= budget and not uses_budget(ROWS[attack]):
                assert rows({"": outcome}) == rows({"": free[key]})
            else:  # under a budget a search may ask in another order (test_budgets.py)
                statuses = ("out of budget", "broken", "held", "proved", free[key].status)
                assert outcome.status in statuses
        # Each winner is scored again alone, which is no query.
        winners = sum(outcome.status == "broken" for outcome in outcomes.values())
        is_query = Flips in ROWS[attack].asks  # type: ignore[attr-defined]
        sent = sum(fake.calls) + (sum(fake.passes) if is_query else 0)
        assert sent <= budget * len(outcomes) + winners


@pytest.mark.parametrize("attack", ["pwws", "salient-swap"])
@pytest.mark.parametrize("target", TARGETS)
def test_the_smallest_budgets_still_try_candidates(attack: str, target: str) -> None:
    for budget in range(2, 24):
        outcomes = attacked(ROWS[attack], target_of(attack, target), budget=budget).values()
        assert all(outcome.queries <= budget for outcome in outcomes)
        assert not [outcome for outcome in outcomes if outcome.reason == UNTRIED]
    outcomes = attacked(ROWS[attack], target_of(attack, target), budget=1).values()
    assert [outcome for outcome in outcomes if outcome.reason == UNTRIED]


@pytest.mark.parametrize(
    ("attack", "target"), [(a, t) for a in ROWS if a not in REFRAMING for t in ("linear", "flat")]
)
def test_candidates_keep_the_frame_and_edit_only_words_that_are_read(
    attack: str, target: str
) -> None:
    fake = target_of(attack, target)
    fake.words_read = lambda texts: [range(min(len(text), 3)) for text in texts]
    with watched() as asked:
        outcomes = attacked(ROWS[attack], fake)
    offered = [(old, new) for old, new in candidates(asked) if new is not old]
    assert offered or target == "flat"  # where some attacks see no gain, and offer nothing
    for old, new in offered:
        assert new.frame == old.frame
        edited = {i for i, pair in enumerate(zip(new.words, old.words)) if pair[0] != pair[1]}
        assert edited <= {0, 1, 2} and len(new) == len(old)
    for key, outcome in outcomes.items():
        assert str(outcome.case.text) == TEXTS[int(key)]


PAIRS = [
    {"premise": "a good film", "hypothesis": "a lovely story"},
    {"premise": "A very good story!", "hypothesis": "bad bad film"},
    {"premise": "lovely, lovely <b>good</b> film", "hypothesis": "very"},
    {"premise": "a lovely film", "hypothesis": ""},
    {"premise": "", "hypothesis": "a good good film"},
    {"premise": "a good film", "hypothesis": "a good film"},
]


@pytest.mark.parametrize(
    "locked",
    [
        ("premise",),
        pytest.param(("hypothesis",), marks=pytest.mark.slow),
        pytest.param((), marks=pytest.mark.slow),
        pytest.param(("premise", "hypothesis"), marks=pytest.mark.slow),
    ],
)
@open_and_flat
def test_locked_sides_of_pairs_are_never_edited(
    attack: str, target: str, locked: tuple[str, ...]
) -> None:
    fake = target_of(attack, target)
    texts = [Text.of(pair, locked) for pair in PAIRS]
    with watched() as asked:
        outcomes = attacked(ROWS[attack], fake, texts)
    for case, ask in asked:
        for item in ask.items:
            new = getattr(item, "text", item)  # a request of edits holds the text
            assert [new.fields()[name] for name in locked] == [
                case.text.fields()[n] for n in locked
            ]
    for key, outcome in outcomes.items():
        ends = [step.item for step in outcome.steps]
        for text in ends if outcome.best is None else [*ends, outcome.best.item]:
            assert all(text.fields()[name] == PAIRS[int(key)][name] for name in locked)
    both = {key for key, outcome in outcomes.items() if outcome.status != "skipped"}
    assert both if len(locked) < 2 else not both
    again = attacked(ROWS[attack], target_of(attack, target), texts, window=1, admit=1)
    assert rows(again) == rows(outcomes)
    short = attacked(ROWS[attack], target_of(attack, target), texts, budget=5)
    assert all(outcome.queries <= 5 for outcome in short.values())


@pytest.mark.parametrize("attack", ROWS)
@pytest.mark.parametrize("side", ["premise", "hypothesis"])
def test_each_side_of_a_pair_can_be_edited(attack: str, side: str) -> None:
    """Guard against a contract that holds because nothing ever happens."""
    [other] = {"premise", "hypothesis"} - {side}
    texts = [Text.of(pair, [other]) for pair in PAIRS]
    with watched() as asked:
        attacked(ROWS[attack], target_of(attack, "linear"), texts)
    offered = [(old, new) for old, new in candidates(asked) if new is not old]
    assert any(new.fields()[side] != old.fields()[side] for old, new in offered)


@open_and_flat
def test_asks_only_what_it_declares(attack: str, target: str) -> None:
    with watched() as asked:
        attacked(ROWS[attack], target_of(attack, target))
    assert asked
    assert {type(ask) for _, ask in asked} <= set(ROWS[attack].asks)


@winnable
def test_a_win_is_a_win_and_a_loss_is_not(attack: str, target: str) -> None:
    fake = target_of(attack, target)
    for outcome in outcomes_of(attack, target).values():
        if outcome.best is not None:
            predicted = int(fake.scores([outcome.best.item])[0].argmax())
            assert (predicted != outcome.case.label) == (outcome.status == "broken")


@winnable
def test_a_confidence_goal_is_harder(attack: str, target: str) -> None:
    easy = outcomes_of(attack, target)
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


@pytest.mark.parametrize("attack", ["pwws", "genetic", "random-swap", "hotflip", "key", "key-any"])
def test_recipes_make_the_attack_with_its_settings(attack: str) -> None:
    made = recipe(attack)(share=0.1)
    assert type(made) is type(ROWS[attack])
    assert made.share == 0.1  # type: ignore[attr-defined]


@pytest.mark.parametrize("attack", ROWS)
def test_attacks_win_somewhere(attack: str) -> None:
    """Guard against a contract that holds because nothing ever happens."""
    outcomes = outcomes_of(attack, "linear").values()
    status = Counter(outcome.status for outcome in outcomes)
    unbroken = "proved" if attack in ("exhaustive", "auto", "rewrite") else "held"
    # The fake reads words whatever their case; among the bugs of textbugger it has always a winner.
    never = {"case": "broken", "textbugger": "held"}.get(attack)
    assert set(status) == {"broken", unbroken, "skipped"} - {never}
    assert all(outcome.queries > 1 for outcome in outcomes if outcome.status == "broken")
