"""The estimate "word": against vectors that the plain network computes of whole new texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.errors import UsageError  # noqa: E402
from brittle.moves import EditSpace  # noqa: E402
from brittle.text import Text  # noqa: E402
from brittle.zoo.networks import make_batch  # noqa: E402
from brittle.zoo.white_box import NetworkWhiteBox  # noqa: E402
from zoo.exact import close, edit_request, model  # noqa: E402

SPACE = EditSpace("characters", top_k=60)
TEXTS = [Text.of("the fool is good on tattoos"), Text.of("a film ŷs bad"), Text.of("foo")]


def vector(tested: Any, text: Text, position: int) -> Any:
    """The input of the encoder at one word, by the network's own layers."""
    batch = make_batch(tested.encode([text]), tested.tokenizer, "cpu")
    with torch.no_grad():
        return tested.network.vectors(tested.network.embed(batch), batch)[0, position].numpy()


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        ("LSTM-WC-Random-1", False),
        ("LSTM-C-Random-1", True),
        pytest.param("LSTM-WC-Random-1", True, marks=pytest.mark.slow),
        pytest.param("LSTM-C-Random-1", False, marks=pytest.mark.slow),
    ],
)
def test_the_best_edits_are_ranked_by_the_vectors_of_the_new_words(name: str, sign: bool) -> None:
    tested = model(name)
    box = NetworkWhiteBox(tested)
    space = replace(SPACE, sign=sign, estimate="word")
    requests = [edit_request(text, tested, space) for text in TEXTS]
    words = [replace(request, space=EditSpace("words")) for request in requests]
    papers = [replace(request, space=replace(SPACE, sign=sign)) for request in requests]
    for text, answer, by_paper, gradient in zip(
        TEXTS, box.flips(requests), box.flips(papers), box.gradients(words)
    ):
        moves = [answer.moves[n] for n in range(len(answer.moves.gain))]
        direction = np.sign(gradient.value) if sign else gradient.value
        for move in moves:
            new = vector(tested, text.swap(move.position, move.new), move.position)
            change = new - vector(tested, text, move.position)
            assert close(move.gain, change @ direction[move.position], 1e-9)
        gains = [move.gain for move in moves]
        assert gains == sorted(gains, reverse=True) == answer.moves.gain.tolist()
        pool = [by_paper.moves[n] for n in range(len(by_paper.moves.gain))]
        assert {(m.position, m.new) for m in moves} == {(m.position, m.new) for m in pool}
        assert [m.new for m in moves] != [m.new for m in pool]


def test_a_model_that_computes_no_word_from_its_spelling_says_so() -> None:
    tested = model("LSTM-W-Random-1")
    request = edit_request(TEXTS[0], tested, replace(SPACE, estimate="word"))
    with pytest.raises(UsageError, match=r"--estimate word .* reads words .* Leave --estimate out"):
        NetworkWhiteBox(tested).flips([request])
