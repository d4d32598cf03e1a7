"""Attacks under a constraint, against brute force: what is refused does not end a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise, product
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from brittle.asks import Answer, Case, Flips, FlipsAnswer, Gradient, Probe, Tag, Try
from brittle.attacks.auto import Auto
from brittle.attacks.exhaustive import Exhaustive
from brittle.attacks.genetic import Genetic
from brittle.attacks.hotflip import HotFlipWords
from brittle.attacks.pwws import PWWS
from brittle.attacks.salient_swap import GradientSwap, SalientSwap
from brittle.attacks.spot_swap import ListSwap
from brittle.attacks.substitutes import Best, try_in_order
from brittle.attacks.typing_errors import Key
from brittle.candidates.synonyms import SubstituteTable
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.goals import Untargeted
from brittle.goals.constraints import Constraint, Fluent, compare
from brittle.levels import LEVELS
from brittle.moves import Move
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeMoves, FakeNetwork, FakeTarget
from brittle.text import Text

WORDS = ("ab", "cd", "ef", "gh", "ik", "lm", "no", "pq")
TABLE = SubstituteTable({word: tuple(WORDS[n % 3 :: 3]) for n, word in enumerate(WORDS)})
LEAST = 0.3
ATTACKS: dict[str, Any] = {
    "pwws": PWWS(TABLE),
    "salient-swap": SalientSwap(TABLE),
    "gradient-swap": GradientSwap(TABLE),
    "genetic": Genetic(TABLE, population=4, generations=3, share=1.0),
    "list": ListSwap(TABLE),
    "exhaustive": Exhaustive(TABLE),
    "auto": Auto(((LEVELS["any"], TABLE),)),
}


class Likelihoods:
    """A language model with a random number for every pair of neighbours."""

    name, fingerprint = "likelihoods", "0"

    def fluencies(self, items: Sequence[Text]) -> list[float]:
        rows = [[str(word) for word in text.words] for text in items]
        return [
            sum(crc32("".join(pair).encode()) / 2**31 for pair in pairwise(row)) for row in rows
        ]


class Interacting(FakeTarget):
    """A fake whose logits are no sum over words: pairs of words count as well."""

    def scores(self, items: Any) -> Any:
        pairs = [Text.of(" ".join(f"{a}{b}" for a, b in combinations(t.words, 2))) for t in items]
        return super().scores(pairs)


class Labels(FakeTarget):
    """A fake that answers labels only."""

    label_only = True

    def scores(self, items: Any) -> Any:
        return np.eye(len(self.labels))[super().scores(items).argmax(axis=1)]


THREE = ("no", "yes", "so")
TARGETS: dict[str, Any] = {
    "two classes": lambda: FakeNetwork(WORDS, spread=1.5),
    "three classes": lambda: FakeNetwork(WORDS, labels=THREE, spread=1.5),
    "pairs": lambda: Interacting(spread=0.7, labels=THREE),
    "labels": lambda: Labels(spread=1.0),
}
DRAWN = Random(1)
TEXTS = [" ".join(DRAWN.choices([*WORDS, "xy"], k=DRAWN.randint(2, 6))) for _ in range(100)]


def outcomes_of(attack: Any, target: Any, least: float | None = LEAST, **options: Any) -> Any:
    constraints = () if least is None else (Constraint(Fluent(), least),)
    broker = Broker(make_desks(target, (Likelihoods(),)))
    engine = Engine(attack, Untargeted(), broker, constraints=constraints, **options)
    cases = [Case(str(n), Text.of(text)) for n, text in enumerate(TEXTS)]
    return {outcome.case.id: outcome for part in engine.run(cases) for outcome in part}


def fluency(original: Text, texts: Sequence[Text]) -> list[float | None]:
    pairs = [(original, text) for text in texts]
    return compare(Fluent(), pairs, lambda _, items: (Likelihoods().fluencies(items), {}))


def is_broken_by_one_swap(target: Any, original: Text) -> bool:
    """Try every single swap: does one change the class and keep enough?"""
    texts = [
        original.swap(i, new)
        for i, word in enumerate(original.words)
        for new in TABLE.of(str(word), "")
        if new != word
    ]
    if not texts:
        return False
    label, *others = target.scores([original, *texts]).argmax(axis=1).tolist()
    values = fluency(original, texts)
    return any(o != label and (v or 0.0) >= LEAST for o, v in zip(others, values))


PAIRS = [
    (name, target)
    for name, target in product(ATTACKS, TARGETS)
    if Gradient not in ATTACKS[name].asks or hasattr(TARGETS[target](), "gradients")
]


@pytest.mark.parametrize(("name", "target"), PAIRS)
def test_a_single_swap_that_breaks_and_keeps_enough_is_found(name: str, target: str) -> None:
    fake, seen = TARGETS[target](), Counter[str]()
    for outcome in outcomes_of(ATTACKS[name], fake).values():
        original = outcome.case.item
        if outcome.status == "broken":
            (value,) = fluency(original, [outcome.best.item])
            assert (value or 0.0) >= LEAST
        if is_broken_by_one_swap(fake, original):
            seen[outcome.status] += 1
            assert outcome.status == "broken", str(original)
    assert seen["broken"] > 5


@pytest.mark.parametrize("budget", [8, 15, 30, 60])
def test_under_a_budget_a_case_that_is_held_has_no_such_swap(budget: int) -> None:
    fake, endings = FakeNetwork(WORDS, spread=1.5), Counter[str]()
    for outcome in outcomes_of(PWWS(TABLE), fake, budget=budget).values():
        endings[outcome.status] += 1
        if outcome.status == "held" or outcome.proved_words:
            assert not is_broken_by_one_swap(fake, outcome.case.item)
    assert endings["broken"] > 3


@pytest.mark.parametrize("name", ATTACKS)
def test_a_constraint_that_everything_keeps_breaks_no_less(name: str) -> None:
    """Where nothing is refused, what breaks without the constraint breaks in the same way."""
    fake = FakeNetwork(WORDS, spread=1.5)
    free, bound = (outcomes_of(ATTACKS[name], fake, least) for least in (None, 1e-9))
    for case, outcome in free.items():
        if outcome.status == "broken":
            same: Outcome = bound[case]
            assert (same.status, same.queries) == ("broken", outcome.queries)
            assert [step.item for step in same.steps] == [step.item for step in outcome.steps]


# By hand: invented answers, and candidates that are refused.


def answer(*losses: float, refused: Sequence[int] = (), won: Sequence[int] = ()) -> Answer:
    loss = np.array(losses)
    rows = np.arange(len(loss))
    return Answer(
        np.stack([1 - loss, loss], axis=1),
        loss,
        np.isin(rows, won),
        refused=np.isin(rows, refused),
    )


def case_of(text: str, loss: float = 0.1) -> Case[Text]:
    return Case("0", Text.of(text), 0, start=answer(loss), is_constrained=True)


def texts(ask: Any) -> list[str]:
    return [str(text) for text in ask.items]


def test_pwws_goes_on_with_the_next_candidate_of_a_position() -> None:
    table = SubstituteTable({"a": ("b", "c"), "d": ("e", "f", "g"), "h": ("i",)})
    search = PWWS(table)(case_of("a d h"), Random(0))
    assert isinstance(next(search), Probe)
    measured = search.send(answer(0.1, 0.1, 0.1))  # all words are equally salient
    assert [texts(leaf) for leaf in measured.items] == [
        ["b d h", "c d h"],
        texts_of("e f g"),
        ["a d i"],
    ]
    note = search.send([answer(0.4, 0.3), answer(0.2, 0.35, 0.3), answer(0.15)])
    assert note.proved_words == 1  # type: ignore[attr-defined]
    path = search.send(None)
    assert isinstance(path, Try) and texts(path) == ["b d h", "b f h", "b f i"]
    # "b f h" reaches the goal and is refused: the other candidates of "d" follow, the best first.
    second = search.send(answer(0.4, 0.1, 0.1, refused=[1, 2]))
    assert isinstance(second, Try) and texts(second) == ["b g h", "b e h"] and second.in_order
    third = search.send(answer(0.45, 0.42))
    assert texts(third) == ["b g i"]
    singles = search.send(answer(0.5))
    assert isinstance(singles, Try) and texts(singles) == []


def texts_of(words: str) -> list[str]:
    return [f"a {word} h" for word in words.split()]


def test_without_a_constraint_pwws_ends_with_the_list_of_the_paper() -> None:
    case = Case("0", Text.of("a d"), 0, start=Answer(np.ones((1, 2)), np.array([0.1]), np.zeros(1)))
    search = PWWS(SubstituteTable({"a": ("b",), "d": ("e",)}))(case, Random(0))
    free = [Answer(np.ones((1, 2)), np.array([0.3]), np.array([True]))] * 2
    next(search)
    search.send(Answer(np.ones((2, 2)), np.array([0.1, 0.1]), np.zeros(2, dtype=bool)))
    assert search.send(free).proved_words == 0  # type: ignore[attr-defined]
    path = search.send(None)
    with pytest.raises(StopIteration):
        search.send(Answer(np.ones((2, 2)), np.array([0.2, 0.2]), np.zeros(2, dtype=bool)))
    assert texts(path) == ["b d", "b e"]


def test_the_beam_gives_the_place_of_a_refused_text_to_the_next() -> None:
    def heard(count: int, *moves: FakeMoves, refused: Sequence[int] = ()) -> FlipsAnswer:
        own = answer(*[0.1] * count, refused=refused)
        return FlipsAnswer(own.answers, own.loss, own.won, moves, refused=own.refused)

    def swap(gain: float, position: int, new: str) -> Move:
        return Move(gain, position, new, "swap", 0, True)

    none = FakeMoves.of()
    free: dict[str, Any] = {"cosine": 0, "stop_words": True, "other_lexeme": False}
    search = HotFlipWords(words=2, beam=2, same_tag=False, **free)(case_of("a b c"), Random(0))
    assert isinstance(next(search), Flips)
    found = FakeMoves.of(*(swap(9 - n, n % 3, f"new{n}") for n in range(5)))
    first = search.send(heard(1, found))
    assert texts(first) == ["new0 b c", "a new1 c"]
    second = search.send(heard(2, none, none, refused=[0]))
    assert isinstance(second, Flips) and texts(second) == ["a b new2"]
    third = search.send(heard(1, none, refused=[0]))
    assert texts(third) == ["new3 b c"]
    # The texts that were not refused are followed.
    last = search.send(heard(1, FakeMoves.of(swap(1, 1, "more"))))
    assert isinstance(last, Try) and texts(last) == ["new3 more c"]


def test_a_screen_is_asked_for_the_next_only() -> None:
    """What was screened before, and found acceptable, is not screened again."""
    search = HotFlipWords(words=1, beam=1, cosine=0, stop_words=True, other_lexeme=False)(
        case_of("a b c"), Random(0)
    )
    next(search)
    search.send([("X", "X", "X")])
    moves = [Move(9 - n, n % 3, f"new{n}", "swap", 0, True) for n in range(6)]
    own = answer(0.1)
    found = FlipsAnswer(own.answers, own.loss, own.won, [FakeMoves.of(*moves)], refused=own.refused)
    screened = search.send(found)
    assert isinstance(screened, Tag) and len(screened.items) == 4
    tried = search.send([("X", "X", "X"), ("Y", "Y", "Y"), ("X", "X", "X"), ("Y", "Y", "Y")])
    assert texts(tried) == ["new0 b c"]
    again = search.send(answer(0.1, refused=[0]))
    assert isinstance(again, Try) and texts(again) == ["a b new2"]


def test_a_refused_text_is_not_followed_where_equal_losses_are() -> None:
    search = Key(share=1.0, draws=2)(case_of("ab"), Random(0))
    first = next(search)
    second = search.send(answer(*[0.1] * len(first.items), refused=range(len(first.items))))
    assert all(sum(a != b for a, b in zip(text, "ab")) == 1 for text in texts(second))
    walk = try_in_order(Best(Text.of("a b"), 0.1), 0, ["x", "y"])
    next(walk)
    with pytest.raises(StopIteration) as end:
        walk.send(answer(0.1, 0.1, refused=[0]))
    assert str(end.value.value.text) == "y b"


def test_the_best_of_an_answer_is_not_refused() -> None:
    assert answer(0.2, 0.9, 0.9, refused=[1]).best == 2
    assert answer(0.2, refused=[0]).best is None
    assert Answer(np.ones((2, 2)), np.array([0.5, 0.5]), np.zeros(2, dtype=bool)).best == 0
