"""HotFlip on words: by hand, against brute force, and each constraint on and off."""

from __future__ import annotations

from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np
import pytest

from attacks.oracle import case_of, cross_entropy, drive
from brittle.asks import Case, Flips, FlipsAnswer, Tag, Try, Unfit
from brittle.attacks import build
from brittle.attacks.hotflip import HotFlipWords
from brittle.moves import Move
from brittle.testing import FakeMoves, FakeNetwork
from brittle.text import Text

RNG = Random(0)
WORDS = (
    "good",
    "fine",
    "nice",
    "film",
    "films",
    "movie",
    "story",
    "plot",
    "saw",
    "seen",
    "watched",
)
FREE: dict[str, Any] = {"cosine": 0, "same_tag": False, "stop_words": True, "other_lexeme": False}


def swap(gain: float, position: int, new: str) -> Move:
    return Move(gain, position, new, "swap", 0, True)


def heard(*moves: FakeMoves) -> FlipsAnswer:
    loss = np.zeros(len(moves))
    return FlipsAnswer(np.zeros((len(moves), 2)), loss, loss > 1, moves)


def case(source: str, **more: Any) -> Case[Text]:
    return Case("0", Text.of(source), label=0, **more)


def texts(ask: Any) -> list[str]:
    return [str(text) for text in ask.items]


def requested(ask: Any) -> list[tuple[int, ...]]:
    return [tuple(request.positions) for request in ask.requests_for(ask.items)]


# By hand.


def test_tags_first_then_flips_then_tags_of_what_they_propose() -> None:
    search = HotFlipWords(words=2, beam=1, other_lexeme=False)(case("nice films"), RNG)
    tags = next(search)
    assert isinstance(tags, Tag) and texts(tags) == ["nice films"]
    flips = search.send([("JJ", "NNS")])
    assert type(flips) is Flips and requested(flips) == [(0, 1)]
    found = FakeMoves.of(swap(3, 1, "film"), swap(2, 1, "plots"), swap(1, 0, "good"))
    screened = search.send(heard(found))
    assert isinstance(screened, Tag)
    assert texts(screened) == ["nice film", "nice plots", "good films"]
    second = search.send([("JJ", "NN"), ("JJ", "NNS"), ("JJ", "NNS")])
    assert type(second) is Flips and texts(second) == ["nice plots"] and requested(second) == [(0,)]
    last = search.send(heard(FakeMoves.of(swap(1, 0, "nicely"), swap(0.5, 0, "good"))))
    last = search.send([("RB", "NNS"), ("JJ", "NNS")])
    assert type(last) is Try and texts(last) == ["good plots"]


def test_every_swapped_word_keeps_the_tag_of_the_original() -> None:
    """A second swap can change how the first one is read: then the text is not acceptable."""
    search = HotFlipWords(words=2, beam=1, other_lexeme=False)(case("nice films"), RNG)
    next(search)
    search.send([("JJ", "NNS")])
    search.send(heard(FakeMoves.of(swap(3, 1, "plots"))))
    search.send([("NN", "NNS")])  # the tag of a word that stays does not matter
    search.send(heard(FakeMoves.of(swap(1, 0, "good"))))
    with pytest.raises(StopIteration):
        search.send([("JJ", "VBZ")])


def test_candidates_are_screened_until_the_beam_is_full() -> None:
    attack = HotFlipWords(words=1, beam=2, other_lexeme=False)
    search = attack(case("films"), RNG)
    next(search)
    search.send([("NNS",)])
    moves = FakeMoves.of(*(swap(20 - n, 0, f"w{n}") for n in range(20)))
    assert texts(search.send(heard(moves))) == [f"w{n}" for n in range(8)]
    assert texts(search.send([("NN",)] * 7 + [("NNS",)])) == [f"w{n}" for n in range(8, 16)]
    last = search.send([("NN",)] * 5 + [("NNS",)] * 3)
    assert type(last) is Try and texts(last) == ["w7", "w13"]


def test_stop_words_are_aimed_at_only_if_asked_for() -> None:
    for stop_words, positions in ((False, [(1, 3)]), (True, [(0, 1, 2, 3)])):
        attack = HotFlipWords(same_tag=False, stop_words=stop_words)
        assert requested(next(attack(case("A film about films"), RNG))) == positions
    with pytest.raises(Unfit, match="no candidates"):
        next(HotFlipWords()(case("What was it"), RNG))


def test_tokens_of_contractions_are_neither_replaced_nor_proposed() -> None:
    moves = FakeMoves.of(*(swap(9 - n, 2, form) for n, form in enumerate(("n't", "ll", "fine"))))
    for stop_words, positions, proposed in (
        (False, (2, 4), ["fine"]),
        (True, (0, 1, 2, 3, 4), ["n't", "ll", "fine"]),
    ):
        attack = HotFlipWords(same_tag=False, other_lexeme=False, stop_words=stop_words)
        search = attack(case("does n't good , 're films"), RNG)
        assert requested(next(search)) == [positions]
        written = [text.split()[2] for text in texts(search.send(heard(moves)))]
        assert written == proposed


def test_the_same_lexeme_is_refused_unless_asked_for() -> None:
    moves = FakeMoves.of(swap(3, 0, "seen"), swap(2, 0, "SEES"), swap(1, 0, "watched"))
    for other, expected in ((True, ["watched"]), (False, ["seen", "SEES", "watched"])):
        search = HotFlipWords(same_tag=False, other_lexeme=other)(case("saw"), RNG)
        next(search)
        assert texts(search.send(heard(moves))) == expected


@pytest.mark.parametrize(
    ("old", "proposed", "written"),
    [
        ("Good", "nice", "Nice"),
        ("GOOD", "nice", "NICE"),
        ("good", "nice", "nice"),
        ("good", "Paris", "Paris"),
        ("Good", "Paris", "Paris"),
        ("GOOD", "Paris", "Paris"),
        ("I", "we", "We"),
    ],
)
def test_a_substitute_is_written_like_the_word(old: str, proposed: str, written: str) -> None:
    search = HotFlipWords(**FREE)(case(old), RNG)
    next(search)
    assert texts(search.send(heard(FakeMoves.of(swap(1, 0, proposed))))) == [written]


def test_what_is_no_word_is_passed_over() -> None:
    search = HotFlipWords(**FREE)(case("good"), RNG)
    next(search)
    moves = FakeMoves.of(*(swap(9, 0, form) for form in ("...", "'s", "two words", "Good", "fine")))
    assert texts(search.send(heard(moves))) == ["Good", "fine"]


@pytest.mark.parametrize(
    ("values", "cosine", "top"),
    [
        ({}, 0.8, 500),
        ({"cosine": 0}, None, 500),
        ({"same_tag": False}, 0.8, 500),
        ({"other_lexeme": False}, 0.8, 500),
        ({"same_tag": False, "other_lexeme": False}, 0.8, 40),
        ({"same_tag": False, "other_lexeme": False, "beam": 1}, 0.8, 32),
        ({"beam": 200}, 0.8, 800),
    ],
)
def test_the_space(values: dict[str, Any], cosine: float | None, top: int) -> None:
    space = build("hotflip-words", values).space  # type: ignore[attr-defined]
    assert (space.level, space.cosine, space.top_k) == ("words", cosine, top)
    assert (space.objective, space.sign) == ("loss", False)


# On the fake network.


@pytest.mark.parametrize("source", ["good film", "a nice plot", "saw, seen"])
def test_a_wide_beam_tries_every_pair_and_puts_the_best_first(source: str) -> None:
    """Every swap once, every pair of swaps once; the best single swap is that of the exact loss."""
    target = FakeNetwork(WORDS)
    case = case_of(target, source)
    attack = HotFlipWords(words=2, beam=10_000, **FREE)
    driven = drive(attack(case, RNG), target, case)
    words = case.text.words
    one = [
        case.text.swap(i, new)
        for i in range(len(words))
        for new in WORDS
        if new != case.text.words[i]
    ]
    two = [
        case.text.swap(i, a).swap(j, b)
        for i, j in combinations(range(len(words)), 2)
        for a, b in product(WORDS, WORDS)
        if a != words[i] and b != words[j]
    ]
    assert {*driven.asks[1].items} == {*one} and len(driven.asks[1].items) == len(one)
    assert {*driven.asks[2].items} == {*two} and len(driven.asks[2].items) == len(two)
    assert case.label is not None
    loss = cross_entropy(target, driven.asks[1].items, case.label)
    assert (np.diff(loss) <= 1e-12).all()


@pytest.mark.parametrize(("words", "beam"), [(1, 3), (2, 3), (3, 10)])
def test_passes(words: int, beam: int) -> None:
    target = FakeNetwork(WORDS)
    case = case_of(target, "good film and a fine story")
    target.calls.clear()
    drive(HotFlipWords(words, beam, **FREE)(case, RNG), target, case)
    assert sum(target.passes) == 1 + beam * (words - 1)
    assert target.calls == [beam]


def test_no_more_words_than_there_are() -> None:
    target = FakeNetwork(WORDS)
    case = case_of(target, "good film")
    driven = drive(HotFlipWords(5, 2, **FREE)(case, RNG), target, case)
    assert [type(ask) for ask in driven.asks] == [Flips, Flips, Try]


@pytest.mark.parametrize("cosine", [0.2, 0.5, 0.9])
def test_the_cosine_holds(cosine: float) -> None:
    target = FakeNetwork(WORDS)
    case = case_of(target, "good film")
    attack = HotFlipWords(**FREE | {"words": 1, "beam": 100, "cosine": cosine})
    driven = drive(attack(case, RNG), target, case)
    near = [
        str(case.text.swap(i, new))
        for i, old in enumerate(case.text.words)
        for new in WORDS
        if new != old and nearness(target, str(old), new) >= cosine
    ]
    found = driven.of(Try)[0] if driven.of(Try) else []
    assert sorted(found) == sorted(near)


def nearness(target: FakeNetwork, a: str, b: str) -> float:
    x, y = target.vector(a), target.vector(b)
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def test_words_that_are_not_read_stay() -> None:
    target = FakeNetwork(WORDS, max_words=2)
    case = case_of(target, "good film, nice story")
    driven = drive(HotFlipWords(3, 5, **FREE)(case, RNG), target, case)
    assert len(driven.of(Flips)) == 2
    assert all(text.words[2:] == ("nice", "story") for ask in driven.asks for text in ask.items)


def test_the_defaults_are_the_papers() -> None:
    assert build("hotflip-words", {}) == HotFlipWords(2, 10, 0.8, True, False, True)
