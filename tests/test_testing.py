"""The fake network's first-order answers, against finite differences and brute force."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from brittle.moves import EditKind, EditRequest, EditSpace
from brittle.targets.protocols import HasFlips
from brittle.testing import FakeMoves, FakeNetwork
from brittle.text import Text

WORDS = ("good", "fine", "film", "story", "a", "bad")
CASES = [(name, toward) for name in ("loss", "logit") for toward in (None, 2)]


def network(**more: Any) -> FakeNetwork:
    return FakeNetwork(WORDS, "abcd", ("x", "y", "z"), **more)


def objective(logit: np.ndarray, name: str, label: int, toward: int | None) -> float:
    """Compute the objective of a request, written a second time."""
    value = logit if name == "logit" else logit - np.log(np.exp(logit).sum())
    return float(-value[label] if toward is None else value[toward])


def gradient(target: FakeNetwork, text: Text, child: Text, *arguments: Any) -> float:
    here, there = target.logits([text, child])
    step = 1e-5
    up, down = (objective(here + t * (there - here), *arguments) for t in (step, -step))
    return (up - down) / (2 * step)


def test_it_is_what_it_stands_for() -> None:
    assert isinstance(network(), HasFlips)


@pytest.mark.parametrize(("name", "toward"), CASES)
def test_swaps_have_the_gradient_of_the_objective(name: Any, toward: int | None) -> None:
    target, text = network(), Text.of("a good film")
    request = EditRequest(text, 0, toward, EditSpace("words", objective=name, top_k=1000), (0, 2))
    (flipped,) = target.flips([request])
    assert isinstance(flipped.moves, FakeMoves)
    assert {(m.position, m.new) for m in flipped.moves.moves} == {
        (i, new) for i in (0, 2) for new in WORDS if new != text.words[i]
    }
    for move in flipped.moves.moves:
        child = text.swap(move.position, move.new)
        assert move.gain == pytest.approx(gradient(target, text, child, name, 0, toward), abs=1e-6)
        if name == "logit":
            here, there = target.logits([text, child])
            exact = objective(there, name, 0, toward) - objective(here, name, 0, toward)
            assert move.gain == pytest.approx(exact)


@pytest.mark.parametrize(("name", "toward"), CASES)
@pytest.mark.parametrize("kinds", [("flip",), ("insert",), ("delete",), ("flip", "insert")])
def test_spellings_have_the_gradient_by_the_length_of_the_step(
    name: Any, toward: int | None, kinds: tuple[EditKind, ...]
) -> None:
    target, text = network(), Text.of("a good film")
    (flipped,) = target.flips(
        [EditRequest(text, 0, toward, EditSpace("characters", kinds, 999, name), (0, 1))]
    )
    assert isinstance(flipped.moves, FakeMoves)
    assert {move.kind for move in flipped.moves.moves} == {*kinds}
    for move in flipped.moves.moves:
        old = str(text.words[move.position])
        size = max(len(old), len(move.new))
        changed = sum(a != b for a, b in zip(old.ljust(size, "_"), move.new.ljust(size, "_")))
        assert changed == 1 or move.kind != "flip"
        whole = gradient(target, text, text.swap(move.position, move.new), name, 0, toward)
        assert move.gain == pytest.approx(whole / sqrt(2 * changed), abs=1e-6)
        assert move.in_vocabulary is (move.new in WORDS)


def test_moves_are_in_order_and_cut() -> None:
    request = EditRequest(
        Text.of("a good film"), 0, None, EditSpace("characters", top_k=7), (0, 1, 2)
    )
    (flipped,) = network().flips([request])
    assert len(flipped.moves.gain) == 7 and (np.diff(flipped.moves.gain) <= 0).all()
    assert [flipped.moves[n].gain for n in range(7)] == flipped.moves.gain.tolist()


def test_scores_of_a_pass_are_the_scores() -> None:
    target, texts = (
        network(max_words=2),
        [Text.of("a good film"), Text.of({"p": "a bad film"}, ["p"])],
    )
    scores = target.scores(texts)
    flipped = target.flips([EditRequest(text, 0, None, EditSpace(), ()) for text in texts])
    assert np.array([one.scores for one in flipped]) == pytest.approx(scores)
    assert target.words_read(texts) == [range(2), range(0)]
    assert (target.calls, target.passes) == ([2], [2])
    assert (scores[0] != target.scores([Text.of("")])[0]).all()
    assert (scores[1] != target.scores([Text.of("")])[0]).all()  # locked words count


@pytest.mark.parametrize(("name", "toward"), CASES)
def test_gradients_are_those_along_the_vectors(name: Any, toward: int | None) -> None:
    target, text = network(max_words=2), Text.of("a good film")
    words, letters = target.gradients(
        [
            EditRequest(text, 1, toward, EditSpace(level, objective=name), (0, 1))
            for level in ("words", "characters")
        ]
    )
    assert isinstance(words.value, np.ndarray) and (words.value[2] == 0).all()
    child = text.swap(1, "bad")
    along = words.value[1] @ (target.vector("bad") - target.vector("good"))
    assert along == pytest.approx(gradient(target, text, child, name, 1, toward), abs=1e-6)
    assert [len(rows) for rows in letters.value] == [1, 4, 4]
    assert (letters.value[1] == words.value[1]).all()


def test_equal_networks_have_equal_fingerprints() -> None:
    assert network().fingerprint == network().fingerprint != network(max_words=3).fingerprint
