"""Swaps of words that are spelt, against the vectors of each written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.moves import EditSpace, Move  # noqa: E402
from brittle.ranking import top_k  # noqa: E402
from brittle.ranking.hotflip_scores import VectorGradients, WordSwaps  # noqa: E402
from brittle.text import HOLE, Text  # noqa: E402
from brittle.zoo.white_box import NetworkWhiteBox  # noqa: E402
from zoo.exact import KNOWN, edit_request, model  # noqa: E402

NAMES = ["CharCNN-LSTM", "BiLSTM-WC-Random-2-attention"]
TEXT = Text.of("the Fool is GOOD on a log")
ALL = 10**9


def listed(moves: Any) -> list[Move]:
    return [moves[n] for n in range(len(moves.gain))]


def as_in(word: str, like: str) -> str:
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word.capitalize() if like[0].isupper() else word


def vector(tested: Any, word: str) -> Any:
    """Return what the encoder takes for a word, by the network itself."""
    from brittle.zoo.networks import make_batch

    batch = make_batch(tested.encode([Text.of(word)]), tested.tokenizer, "cpu")
    with torch.no_grad():
        return tested.network.vectors(tested.network.embed(batch), batch)[0, 0].numpy()


@pytest.mark.parametrize("cosine", [None, 0.2])
@pytest.mark.parametrize("sign", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_swaps_gain_the_gradient_along_the_difference(
    name: str, sign: bool, cosine: float | None
) -> None:
    tested = model(name)
    white = NetworkWhiteBox(tested)
    request = edit_request(TEXT, tested, EditSpace(top_k=ALL, sign=sign, cosine=cosine))
    (gradient,) = white.gradients([request])
    expected = {}
    for position, word in enumerate(map(str, TEXT.words)):
        g = np.sign(gradient.value[position]) if sign else gradient.value[position]
        old = vector(tested, word)
        for known in KNOWN:
            new = vector(tested, as_in(known, word))
            near = old @ new / np.linalg.norm(old) / np.linalg.norm(new)
            if known != word.lower() and near >= (cosine or -2):
                expected[position, as_in(known, word)] = float(g @ (new - old))
    moves = listed(white.flips([request])[0].moves)
    gains = {(move.position, move.new): move.gain for move in moves}
    assert gains == pytest.approx(expected, abs=1e-11) and len(gains) == len(moves) > 5
    assert (cosine is None) == (len(gains) == len(TEXT) * len(KNOWN) - 5)
    assert {(m.kind, m.character, m.in_vocabulary) for m in moves} == {("swap", 0, True)}
    assert [m.gain for m in moves] == sorted((m.gain for m in moves), reverse=True)


@pytest.mark.parametrize("chunk", [1, 3, 128])
def test_the_best_are_the_first_of_the_whole_ranking(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(top_k, "BLOCK_COLUMNS", chunk)
    tested = model("CharCNN-LSTM")
    white = NetworkWhiteBox(tested)
    whole = listed(white.flips([edit_request(TEXT, tested, EditSpace(top_k=ALL))])[0].moves)
    for top in (0, 1, 5, 40):
        (found,) = white.flips([edit_request(TEXT, tested, EditSpace(top_k=top))])
        assert listed(found.moves) == whole[:top]


def swaps(table: Any, words: list[Any], gradient: Any, **space: Any) -> list[Move]:
    vocabulary = [f"w{n}" for n in range(len(table))]
    made = WordSwaps(vocabulary, lambda words: torch.as_tensor(table))
    zero = torch.zeros((len(words), table.shape[1]), dtype=torch.float64)
    text = VectorGradients(EditSpace(**space), range(len(words)), words, zero, gradient)
    return listed(made.rank([text])[0])


def test_ties_stand_in_the_order_of_positions_and_vocabulary() -> None:
    gradient = torch.ones((2, 3), dtype=torch.float64)
    for top in (4, ALL):
        moves = swaps(np.zeros((200, 3)), ["w1", HOLE], gradient, top_k=top)
        pairs = [(move.position, move.new) for move in moves]
        order = [(0, f"w{n}") for n in range(200) if n != 1] + [(1, f"w{n}") for n in range(200)]
        assert pairs == order[:top]


def test_what_is_not_a_number_never_comes_back() -> None:
    table = np.ones((6, 2))
    table[2], table[4] = np.nan, np.inf
    gradient = torch.tensor([[1.0, 2.0], [np.nan, 1.0]], dtype=torch.float64)
    moves = swaps(table, ["a", "b"], gradient)
    assert [(m.position, m.new) for m in moves] == [(0, "w0"), (0, "w1"), (0, "w3"), (0, "w5")]
    assert swaps(np.zeros((0, 2)), ["a"], gradient[:1]) == []


def test_a_hole_is_filled_with_a_word_that_is_called_hole() -> None:
    made = WordSwaps(["hole", "whole"], lambda words: torch.ones((2, 1)))
    text = VectorGradients(EditSpace(), (4,), [HOLE], torch.zeros((1, 1)), torch.ones((1, 1)))
    moves = listed(made.rank([text])[0])
    assert [(m.position, m.new) for m in moves] == [(4, "hole"), (4, "whole")]
