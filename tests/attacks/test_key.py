"""Key and Key*: draws counted, the budget kept, the best of a step kept."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from attacks.oracle import case_of, drive
from brittle.asks import Answer, Case, Try, Unfit
from brittle.attacks import build
from brittle.attacks.typing_errors import ALPHABET, Key
from brittle.candidates.typos import beside
from brittle.testing import FakeNetwork, FakeTarget
from brittle.text import Text, words_of

SOURCE = "A lovely, good old film: don't miss it on the 23rd!"
BOTH = pytest.mark.parametrize("anywhere", [False, True])


def answer(*loss: float) -> Answer:
    values = np.array(loss)
    return Answer(np.stack([1 - values, values], axis=1), values, values > 0.5)


def case(source: str, loss: float = 0.1, **more: Any) -> Case[Text]:
    return Case("0", Text.of(source), label=0, start=answer(loss), **more)


def difference(before: Text, after: Text) -> list[tuple[str, str]]:
    """List the characters that differ; words keep their lengths."""
    assert [len(str(w)) for w in before.words] == [len(str(w)) for w in after.words]
    pairs = zip("".join(map(str, before.words)), "".join(map(str, after.words)))
    return [(a, b) for a, b in pairs if a != b]


@BOTH
def test_every_draw_changes_one_character_of_the_text_so_far(anywhere: bool) -> None:
    attack, start = Key(anywhere, share=0.2, draws=50), case(SOURCE)
    search = attack(start, Random(1))
    text, ask = start.text, next(search)
    for _ in range(3):
        assert isinstance(ask, Try) and not ask.in_order
        assert 40 <= len(ask.items) <= 50
        for item in ask.items:
            ((old, new),) = difference(text, item)
            assert new in (ALPHABET if anywhere else beside(old))
            assert item.frame is start.text.frame
            assert all(words_of(str(word)) == [word] for word in item.words)
        loss = np.linspace(0.2, 0.1, len(ask.items))
        text = ask.items[0]
        ask = search.send(answer(*loss))


def test_the_best_is_kept_and_a_worse_one_is_not() -> None:
    search = Key(anywhere=True, share=0.5, draws=4)(case("lovely film", 0.2), Random(3))
    first = next(search)
    second = search.send(answer(0.1, 0.3, 0.3, 0.0))
    assert all(len(difference(first.items[1], item)) == 1 for item in second.items)
    third = search.send(answer(*[0.25] * len(second.items)))
    assert all(len(difference(first.items[1], item)) == 1 for item in third.items)
    # one that changes nothing is taken: labels alone would else never lead anywhere
    fourth = search.send(answer(*[0.3] * len(third.items)))
    assert all(len(difference(third.items[0], item)) == 1 for item in fourth.items)


@BOTH
@pytest.mark.parametrize(("share", "draws"), [(0.1, 10), (0.3, 3), (1.0, 1)])
def test_steps_and_queries_keep_the_budget(anywhere: bool, share: float, draws: int) -> None:
    target = FakeTarget({}, spread=1.0)
    case = case_of(target, SOURCE)
    letters = sum(len(str(word)) for word in case.text.words)
    driven = drive(Key(anywhere, share, draws)(case, Random(0)), target, case)
    assert len(driven.asks) == int(share * letters)
    assert all(1 <= len(ask.items) <= draws for ask in driven.asks)
    for ask in driven.asks:
        assert all(len(difference(case.text, item)) <= share * letters for item in ask.items)
        assert len(dict.fromkeys(ask.items)) == len(ask.items)


def test_equal_draws_are_asked_once() -> None:
    search = Key(draws=100)(case("1"), Random(0))
    assert sorted(str(item) for item in next(search).items) == ["2", "q"]


def test_characters_are_drawn_evenly_and_only_where_the_target_reads() -> None:
    attack = Key(anywhere=True, draws=3000)
    ask = next(attack(case("a bcdef ghij", read_positions=[0, 1]), Random(5)))
    assert {item.words[2] for item in ask.items} == {"ghij"}
    at: Counter[int] = Counter()
    rng = Random(5)
    changes = attack._changes(case("a bcdef ghij", read_positions=[0, 1]), Text.of("a bcdef ghij"))
    for _ in range(3000):
        i, position, options = rng.choice(changes)
        rng.choice(options)
        at[10 * i + position] += 1
    assert sorted(at) == [0, 10, 11, 12, 13, 14]
    assert all(400 < count < 600 for count in at.values())


def test_draws_are_made_in_the_order_the_docstring_says() -> None:
    """First the character, from the left, then what it becomes, text by text."""
    text, rng = Text.of("ad 1é"), Random(7)
    changes = [(0, 0, "a"), (0, 1, "d"), (1, 0, "1")]
    expected = []
    for _ in range(5):
        i, at, old = rng.choice(changes)
        word = str(text.words[i])
        expected.append(text.swap(i, word[:at] + rng.choice(beside(old)) + word[at + 1 :]))
    ask = next(Key(draws=5)(case("ad 1é"), Random(7)))
    assert ask.items == list(dict.fromkeys(expected))


@BOTH
def test_characters_without_a_key(anywhere: bool) -> None:
    search = Key(anywhere, share=0.5, draws=5)(case("é ü-ß"), Random(0))
    if anywhere:
        assert len(next(search).items) > 1
    else:
        with pytest.raises(Unfit, match="no candidates"):
            next(search)


def test_any_key_never_draws_the_same_character() -> None:
    ask = next(Key(anywhere=True, draws=5000)(case("x"), Random(0)))
    assert sorted(str(item) for item in ask.items) == sorted(ALPHABET.replace("x", ""))


def test_it_gains_on_a_network_without_seeing_its_gradient() -> None:
    target = FakeNetwork()
    case = case_of(target, SOURCE)
    drive(Key(share=0.2)(case, Random(0)), target, case)
    assert target.passes == []
    driven = drive(Key(share=0.2)(case, Random(0)), target, case)
    assert case.start is not None and case.label is not None
    best = 1 - target.scores(driven.asks[-1].items)[:, case.label].min()
    assert best > case.start.loss[0] + 0.1


def test_recipes() -> None:
    assert build("key", {"draws": 3}) == Key(False, 0.1, 3)
    assert build("key-any", {"share": 0.2}) == Key(True, 0.2, 10)
