"""Gradient swaps, driven by hand."""

from __future__ import annotations

from random import Random

import numpy as np

from brittle.asks import Answer, Case, Gradient
from brittle.attacks.salient_swap import GradientSwap
from brittle.candidates.synonyms import SubstituteTable
from brittle.text import Text

TABLE = SubstituteTable({"a": ("b", "c", "d"), "e": ("f",), "g": ("h", "i"), "j": ("k", "l")})


def test_gradient_swap_ranks_by_the_length_of_the_gradient() -> None:
    start = Answer(np.array([[0.9, 0.1]]), np.array([0.1]), np.array([False]))
    case = Case("0", Text.of("a e g"), label=0, start=start)
    search = GradientSwap(TABLE)(case, Random(0))
    ask = next(search)
    assert isinstance(ask, Gradient)
    [request] = ask.requests_for(ask.items)
    assert request.label == 0 and [*request.positions] == [0, 1, 2]
    gradient = type("G", (), {"value": np.array([[0.0, 1.0], [3.0, 4.0], [-2.0, 0.0]])})

    def answer(*loss: float) -> Answer:
        values = np.array(loss)
        return Answer(np.stack([1 - values, values], 1), values, np.zeros(len(loss), dtype=bool))

    tried = [search.send([gradient]), search.send(answer(0.2)), search.send(answer(0.1, 0.3))]
    texts = [[str(text) for text in one.items] for one in tried]
    # "e" gains and stays, then "g", whose second candidate stays, then "a".
    assert texts == [["a f g"], ["a f h", "a f i"], ["b f i", "c f i"]]
