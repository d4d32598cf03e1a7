"""Searches driven by hand: next and send, invented answers, no engine and no model."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from brittle.asks import Answer, Case, Note, Probe, Tag, Together, Try, Unfit, assembled, leaves
from brittle.attacks.pwws import PWWS
from brittle.attacks.salient_swap import SalientSwap
from brittle.attacks.strong_words import opposite
from brittle.candidates.synonyms import SubstituteTable, Synonyms
from brittle.text import Text


def answer(*loss: float) -> Answer:
    values = np.array(loss)
    return Answer(np.stack([1 - values, values], axis=1), values, values > 0.5)


def test_pwws_asks_masks_then_swaps_then_offers_the_path() -> None:
    table = SubstituteTable({"good": ("fine", "decent"), "film": ("movie",)})
    case = Case("0", Text.of("a good film"), label=0, start=answer(0.1))
    search = PWWS(table)(case, Random(0))

    masks = next(search)
    assert isinstance(masks, Probe)
    assert [str(t) for t in masks.items] == ["____ good film", "a ____ film", "a good ____"]

    swaps = search.send(answer(0.1, 0.1, 0.9))
    assert isinstance(swaps, Together)
    assert [[str(t) for t in ask.items] for ask in swaps.items] == [
        ["a fine film", "a decent film"],
        ["a good movie"],
    ]

    # good: gain .3 at weight .24; film: gain .2 at weight .53, so film goes first
    note = search.send([answer(0.2, 0.4), answer(0.3)])
    assert isinstance(note, Note) and note.proved_words == 1  # every single swap, and none won
    path = search.send(None)
    assert isinstance(path, Try) and path.in_order
    assert [str(t) for t in path.items] == ["a good movie", "a decent movie"]

    with pytest.raises(StopIteration):
        search.send(answer(0.3, 0.45))


def test_pwws_asks_for_tags_only_if_the_proposal_looks_at_them() -> None:
    case = Case("0", Text.of("a good film"), label=0, start=answer(0.1))
    ask = next(PWWS(Synonyms())(case, Random(0)))
    assert isinstance(ask, Tag)


def test_pwws_without_candidates_asks_nothing() -> None:
    case = Case("0", Text.of("a good film"), label=0, start=answer(0.1))
    with pytest.raises(Unfit, match="no candidates"):
        next(PWWS(SubstituteTable({}))(case, Random(0)))


TABLE = SubstituteTable(
    {"warm": ("hot", "mild", "cosy"), "good": ("fine", "decent", "sound"), "film": ("movie",)}
)


def texts(ask: Any) -> list[str]:
    return [str(text) for text in ask.items]


def test_pwws_under_a_budget_masks_few_words_at_first_and_tries_in_between() -> None:
    case = Case("0", Text.of("a warm good film"), label=0, start=answer(0.1), budget=10)
    search = PWWS(TABLE)(case, Random(0))
    # The smallest budget tries something.
    assert texts(next(search)) == ["a hot good film"]
    masks = search.send(answer(0.1))
    assert isinstance(masks, Probe) and masks.partial
    assert texts(masks) == ["a ____ good film", "a warm ____ film"]
    tried = search.send(answer(0.1, 0.3))
    assert isinstance(tried, Try)
    assert texts(tried) == ["a warm fine film", "a warm decent film"]
    assert texts(search.send(answer(0.2, 0.3))) == ["a warm good ____"]
    assert texts(search.send(answer(0.2))) == ["a warm good movie"]
    assert texts(search.send(answer(0.15))) == ["a hot good film", "a mild good film"]

    path = search.send(answer(0.4, 0.2))
    assert isinstance(path, Try) and path.in_order
    assert texts(path) == ["a hot decent film", "a hot decent movie"]
    assert texts(search.send(answer(0.45, 0.48))) == ["a warm sound film"]
    assert texts(search.send(answer(0.5))) == ["a cosy good film"]
    assert isinstance(search.send(answer(0.1)), Note)  # all single swaps were tried
    # "sound" is the best candidate now.
    assert texts(search.send(None)) == ["a hot sound film", "a hot sound movie"]


@pytest.mark.parametrize("attack", [PWWS(TABLE), SalientSwap(TABLE)])
def test_the_order_of_the_questions_does_not_depend_on_the_size_of_the_budget(attack: Any) -> None:
    plain = Case("0", Text.of("a warm good film"), label=0, start=answer(0.1))

    def asked(budget: int) -> list[list[str]]:
        search, rounds = attack(replace(plain, budget=budget), Random(0)), []
        ask = next(search)
        while len(rounds) < 6:
            if isinstance(ask, Note):
                ask = search.send(None)
                continue
            rounds.append(texts(ask))
            ask = search.send(answer(*(0.1 + len(text) / 100 for text in texts(ask))))
        return rounds

    assert asked(5) == asked(14) == asked(1000)


def test_salient_swap_masks_then_tries_two_substitutes_a_word() -> None:
    case = Case("0", Text.of("a warm good film"), label=0, start=answer(0.1))
    search = SalientSwap(TABLE)(case, Random(0))
    assert texts(next(search)) == ["a ____ good film", "a warm ____ film", "a warm good ____"]
    assert texts(search.send(answer(0.1, 0.3, 0.2))) == ["a warm fine film", "a warm decent film"]
    assert texts(search.send(answer(0.2, 0.3))) == ["a warm decent movie"]
    # That gained nothing, so the next word is tried without it.
    assert texts(search.send(answer(0.3))) == ["a hot decent film", "a mild decent film"]
    assert texts(search.send(answer(0.4, 0.35))) == ["a hot sound film"]
    assert texts(search.send(answer(0.2))) == ["a cosy decent film"]
    with pytest.raises(StopIteration):
        search.send(answer(0.2))


def test_salient_swap_under_a_budget_masks_few_words_at_first() -> None:
    case = Case("0", Text.of("a warm good film"), label=0, start=answer(0.1), budget=5)
    search = SalientSwap(TABLE)(case, Random(0))
    assert texts(next(search)) == ["a hot good film"]
    assert texts(search.send(answer(0.05))) == ["a ____ good film", "a warm ____ film"]
    assert texts(search.send(answer(0.1, 0.3))) == ["a warm fine film", "a warm decent film"]
    assert texts(search.send(answer(0.2, 0.3))) == ["a warm good ____"]


def test_salient_swap_moves_on_a_target_that_answers_labels_only() -> None:
    case = Case("0", Text.of("a warm good film"), label=0, start=answer(0.0))
    search = SalientSwap(TABLE)(case, Random(0))
    next(search)
    assert texts(search.send(answer(0.0, 0.0, 0.0))) == ["a hot good film", "a mild good film"]
    assert texts(search.send(answer(0.0, 0.0))) == ["a hot fine film", "a hot decent film"]


def test_leaves_and_assembled_are_inverse() -> None:
    ask = Together([Probe([1]), Together([Try([2]), Probe([3, 4])])])
    assert [list(leaf.items) for leaf in leaves(ask)] == [[1], [2], [3, 4]]
    assert assembled(ask, iter("abc")) == ["a", ["b", "c"]]


def test_the_opposite_class_is_the_runner_up_or_the_one_aimed_at() -> None:
    scores = np.array([[0.5, 0.1, 0.4]])
    start = Answer(scores, np.array([0.5]), np.array([False]))
    assert opposite(Case("0", None, label=0, start=start)) == 2
    assert opposite(Case("0", None, label=0, toward=1, start=start)) == 1
