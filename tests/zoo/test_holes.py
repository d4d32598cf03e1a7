"""Holes that read as padding: a zero vector at their position, in every pass of a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.moves import EditSpace  # noqa: E402
from brittle.text import HOLE, Text  # noqa: E402
from brittle.zoo.networks import make_batch  # noqa: E402
from brittle.zoo.tokenizers import PAD  # noqa: E402
from brittle.zoo.white_box import NetworkWhiteBox  # noqa: E402
from zoo.exact import NAMES, close, edit_request, model, objective  # noqa: E402

# Of one batch some begin alike, some end with holes, and some are another up to its holes.
TEXTS = ["the film is good", "the film is", "a fool on a log", "foo", "the film is good foo bad"]
HOLES = [(0, 0), (0, 3), (1, 2), (2, 1), (2, 4), (3, 0), (4, 4), (4, 5)]
ITEMS = [Text.of(TEXTS[n]).mask(i) for n, i in HOLES]
ITEMS += [Text.of(text) for text in TEXTS]
ITEMS += [Text.of("a b c").with_words((HOLE,) * 3), Text.of(TEXTS[4]).mask(4).mask(5)]
QUICK = ("LSTM-W-Random-2", "CharCNN-LSTM", "CNN-C-Random-1-mean", "LSTM-WC-ELMo-1")
ALL = [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES]


def by_hand(tested: Any, text: Text) -> tuple[Any, Any]:
    """Read a text with other words for its holes, put zeros there, and classify the vectors."""
    holes = [i for i, word in enumerate(text.words) if word is HOLE]
    filled = text.with_words(tuple("film" if word is HOLE else word for word in text.words))
    batch = make_batch(tested.encode([filled]), tested.tokenizer, "cpu")
    network = tested.network
    with torch.no_grad():
        vectors = network.vectors(network.embed(batch), batch)
    vectors[:, holes] = 0.0
    vectors.requires_grad_()
    inputs = network.encoder_input(vectors, batch.length)
    return vectors, network.classify(inputs, batch.length)[0]


@pytest.mark.parametrize("name", [*ALL, "CNN-C-Random-1"])
def test_scores_are_those_of_zero_vectors(name: str) -> None:
    tested = model(name, hole_id=PAD, double=False)
    keys = tested.encode(ITEMS)
    expected = [by_hand(tested, item)[1].tolist() for item in ITEMS]
    assert tested.logits(keys) == pytest.approx(np.array(expected), abs=1e-5)
    with torch.no_grad():
        plain = tested.network(make_batch(keys, tested.tokenizer, "cpu"))
    assert plain.numpy() == pytest.approx(np.array(expected), abs=1e-5)
    unknown = model(name, double=False)
    assert abs(unknown.logits(unknown.encode(ITEMS)) - np.array(expected)).max() > 1e-3


@pytest.mark.parametrize("name", ["LSTM-W-Random-2", "CharCNN-LSTM", "LSTM-WC-Random-1"])
def test_a_hole_and_an_unknown_word_have_different_keys(name: str) -> None:
    for hole_id, alike in ((PAD, False), (1, name == "LSTM-W-Random-2")):
        tested = model(name, hole_id=hole_id)
        text = Text.of("the film is good")
        hole, unknown, whole = tested.encode([text.mask(1), text.swap(1, "ŷß"), text])
        assert (hole == unknown) == alike and hole != whole != unknown
        assert len(hole) == len(whole)


@pytest.mark.parametrize("name", ALL)
def test_gradients_and_vectors_at_holes_are_those_of_zero_vectors(name: str) -> None:
    tested = model(name, hole_id=PAD)
    white = NetworkWhiteBox(tested)
    requests = [edit_request(item, tested) for item in ITEMS]
    for request, found in zip(requests, white.gradients(requests)):
        vectors, logits = by_hand(tested, request.text)
        objective(logits, request).backward()
        assert close(found.value, vectors.grad[0].numpy(), 1e-10)
        assert close(found.scores, logits.detach().softmax(0).numpy(), 1e-10)
    for layer in white.layers:
        if not layer.startswith(("layer", "biLM 1", "biLM 2")):  # these know the words around
            for item, rows in zip(ITEMS, white.embeddings(ITEMS, layer)):
                holes = [word is HOLE for word in item.words]
                assert not rows[holes].any() and all(rows[np.logical_not(holes)].any(axis=1))


@pytest.mark.parametrize("name", ALL[:3])
def test_a_swap_of_a_hole_gains_the_whole_vector_of_the_new_word(name: str) -> None:
    tested = model(name, hole_id=PAD)
    white = NetworkWhiteBox(tested)
    request = edit_request(ITEMS[0], tested, EditSpace(top_k=10**6))
    [flips], [gradient] = white.flips([request]), white.gradients([request])
    assert flips.scores == pytest.approx(gradient.scores)
    moves = [flips.moves[n] for n in range(len(flips.moves.gain))]
    into = [move for move in moves if move.position == 0]
    assert len(into) == len(white.vocabulary)
    with torch.no_grad():
        batch = make_batch(
            tested.encode([Text.of(move.new) for move in into]), tested.tokenizer, "cpu"
        )
        new = tested.network.vectors(tested.network.embed(batch), batch)[:, 0].numpy()
    assert [move.gain for move in into] == pytest.approx((new @ gradient.value[0]).tolist())
    spelt = white.flips([edit_request(ITEMS[0], tested, EditSpace("characters"))])[0].moves
    assert all(spelt[n].position for n in range(len(spelt.gain)))
