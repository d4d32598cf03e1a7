"""Searches driven by hand: next and send, invented answers, no engine and no model."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from brittle.asks import Answer, Case, Probe, Tag, Together, Try, assembled, leaves
from brittle.attacks.pwws import PWWS
from brittle.attacks.tack_on import opposite
from brittle.proposals.synonyms import SubstituteTable, Synonyms
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
    path = search.send([answer(0.2, 0.4), answer(0.3)])
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
    with pytest.raises(StopIteration):
        next(PWWS(SubstituteTable({}))(case, Random(0)))


def test_leaves_and_assembled_are_inverse() -> None:
    ask = Together([Probe([1]), Together([Try([2]), Probe([3, 4])])])
    assert [list(leaf.items) for leaf in leaves(ask)] == [[1], [2], [3, 4]]
    assert assembled(ask, iter("abc")) == ["a", ["b", "c"]]


def test_the_opposite_class_is_the_runner_up_or_the_one_aimed_at() -> None:
    scores = np.array([[0.5, 0.1, 0.4]])
    start = Answer(scores, np.array([0.5]), np.array([False]))
    assert opposite(Case("0", None, label=0, start=start)) == 2
    assert opposite(Case("0", None, label=0, toward=1, start=start)) == 1
