"""JSMA: from the last word read backwards, one pass a word, along the gradient or its sign."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from attacks.oracle import case_of, drive
from brittle.asks import Case, Flips, FlipsAnswer, Try, Unfit
from brittle.attacks import build
from brittle.attacks.jsma import JSMA
from brittle.errors import UsageError
from brittle.moves import EditRequest, EditSpace, Move
from brittle.testing import FakeMoves, FakeNetwork
from brittle.text import Text

RNG = Random(0)
WORDS = ("brute", "sonogram", "film", "story", "tsunga", "grrr", "telsim", "nice", "plot")


def swap(gain: float, position: int, new: str) -> Move:
    return Move(gain, position, new, "swap", 0, True)


def heard(*moves: Move) -> FlipsAnswer:
    zero = np.zeros(1)
    return FlipsAnswer(np.zeros((1, 2)), zero, zero > 1, [FakeMoves.of(*moves)])


def case(source: str, **more: Any) -> Case[Text]:
    return Case("0", Text.of(source), label=0, **more)


def asked(ask: Any) -> tuple[str, tuple[int, ...]]:
    (request,) = ask.requests_for(ask.items)
    assert type(ask) is Flips
    return str(request.text), tuple(request.positions)


def test_words_go_from_the_last_one_backwards() -> None:
    search = JSMA()(case("This movie made me cry!"), RNG)
    assert asked(next(search)) == ("This movie made me cry!", (4,))
    assert asked(search.send(heard(swap(1, 4, "grrr")))) == ("This movie made me grrr!", (3,))
    assert asked(search.send(heard(swap(1, 3, "brute")))) == ("This movie made brute grrr!", (2,))


def test_it_begins_with_the_last_word_that_is_read() -> None:
    search = JSMA()(case("one two three four", read_positions=[0, 2]), RNG)
    assert asked(next(search))[1] == (2,)
    assert asked(search.send(heard(swap(1, 2, "brute")))) == ("one two brute four", (0,))
    last = search.send(heard(swap(1, 0, "film")))
    assert type(last) is Try and [str(t) for t in last.items] == ["film two brute four"]


def test_a_word_that_none_surpasses_stays_and_is_not_counted() -> None:
    search = JSMA(words=1)(case("one two three"), RNG)
    next(search)
    assert asked(search.send(heard(swap(0.0, 2, "film")))) == ("one two three", (1,))
    assert asked(search.send(heard())) == ("one two three", (0,))
    last = search.send(heard(swap(0.1, 0, "film")))
    assert type(last) is Try and [str(t) for t in last.items] == ["film two three"]


def test_what_was_judged_already_is_not_tried_again() -> None:
    search = JSMA()(case("one two"), RNG)
    next(search)
    search.send(heard(swap(1, 1, "film")))
    with pytest.raises(StopIteration):
        search.send(heard(swap(-1, 0, "film")))


def test_with_once_every_swap_follows_the_gradient_at_the_original() -> None:
    search = JSMA(words=2, once=True)(case("one two three"), RNG)
    assert asked(next(search)) == ("one two three", (2,))
    tried = search.send(heard(swap(1, 2, "film")))
    assert type(tried) is Try and [str(t) for t in tried.items] == ["one two film"]
    assert asked(search.send(heard())) == ("one two three", (1,))
    assert asked(search.send(heard(swap(0, 1, "plot")))) == ("one two three", (0,))
    tried = search.send(heard(swap(1, 0, "nice")))
    assert [str(t) for t in tried.items] == ["nice two film"]
    with pytest.raises(StopIteration):
        search.send(heard())


def test_no_words_and_the_word_itself_are_passed_over() -> None:
    search = JSMA(words=1)(case("a Film"), RNG)
    next(search)
    moves = [swap(5, 1, "''"), swap(4, 1, "film"), swap(3, 1, "plot"), swap(2, 1, "story")]
    last = search.send(heard(*moves))
    assert [str(text) for text in last.items] == ["a Plot"]


def test_nothing_is_asked_where_nothing_is_read() -> None:
    with pytest.raises(Unfit, match="no candidates"):
        next(JSMA()(case("one two", read_positions=()), RNG))


@pytest.mark.parametrize("direction", ["gradient", "sign"])
def test_the_space_is_the_raw_score(direction: str) -> None:
    space = JSMA(direction=direction).space
    assert (space.level, space.objective, space.cosine) == ("words", "logit", None)
    assert space.sign is (direction == "sign")


@pytest.mark.parametrize("words", [1, 3, 5, 35])
def test_one_pass_a_word_and_no_more_words_than_allowed(words: int) -> None:
    target = FakeNetwork(WORDS)
    case = case_of(target, "this is such an excellent movie that it made me cry")
    target.calls.clear()
    driven = drive(JSMA(words)(case, RNG), target, case)
    assert set(target.passes) == {1} and len(target.passes) == len(driven.of(Flips))
    assert len(target.passes) <= 11 and target.calls in ([], [1])
    changed = [
        sum(a != b for a, b in zip(case.text.words, text.words))
        for ask in driven.asks
        for text in ask.items
    ]
    assert changed == sorted(changed) and changed[-1] == min(words, 11)


@pytest.mark.parametrize("direction", ["gradient", "sign"])
@pytest.mark.parametrize("labels", [("a", "b"), ("a", "b", "c")])
@pytest.mark.parametrize("toward", [None, 1])
def test_each_word_becomes_the_one_furthest_along(
    direction: str, labels: tuple[str, ...], toward: int | None
) -> None:
    """The whole vocabulary is looked at, word by word, with the gradients the target shows."""
    target = FakeNetwork(WORDS, labels=labels)
    case = case_of(target, "such an excellent movie", label=0, toward=toward)
    driven = drive(JSMA(4, direction)(case, RNG), target, case)
    text = case.text
    for i in (3, 2, 1, 0):
        request = EditRequest(text, 0, toward, EditSpace("words", objective="logit"), (i,))
        along = target.gradients([request])[0].value[i]
        along = np.sign(along) if direction == "sign" else along
        reach = [
            float((target.vector(w) - target.vector(str(text.words[i]))) @ along) for w in WORDS
        ]
        if max(reach) > 0:
            text = text.swap(i, WORDS[int(np.argmax(reach))])
    assert driven.asks[-1].items == [text]
    assert text != case.text


def test_gradient_and_sign_differ() -> None:
    last_texts = []
    for direction in ("gradient", "sign"):
        target = FakeNetwork(WORDS, spread=0.1)
        case = case_of(target, "such an excellent movie it made me cry")
        driven = drive(JSMA(35, direction)(case, RNG), target, case)
        last_texts.append(str(driven.asks[-1].items[0]))
    assert last_texts[0] != last_texts[1]


def test_an_early_success_stops() -> None:
    target = FakeNetwork(WORDS, spread=2.0)
    case = case_of(target, "such an excellent movie it made me cry")
    driven = drive(JSMA()(case, RNG), target, case, wins=0.5)
    assert len(driven.asks) < 8
    assert case.label is not None
    assert 1 - target.scores(driven.asks[-1].items)[0, case.label] >= 0.5


def test_settings() -> None:
    assert build("jsma", {}) == JSMA(35, "gradient")
    assert build("jsma", {"words": 3, "direction": "sign"}) == JSMA(3, "sign")
    with pytest.raises(UsageError, match=r"Unknown direction 'signs'\. Did you mean 'sign'"):
        build("jsma", {"direction": "signs"})
