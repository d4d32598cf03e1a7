"""Gradients of networks whose estimates are exact, and of networks that mask them."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from brittle.text import HOLE, Text  # noqa: E402
from brittle.zoo import gradient_check  # noqa: E402
from brittle.zoo.gradient_check import (  # noqa: E402
    check_gradients,
    describe,
    is_masked,
)
from brittle.zoo.scoring import NetworkModel  # noqa: E402
from brittle.zoo.white_box import NetworkWhiteBox  # noqa: E402
from zoo.small import model, texts  # noqa: E402


def scaled(name: str, **factors: float) -> NetworkWhiteBox:
    """A network with random weights, some of its parts multiplied by a factor."""
    tested = model(name)
    network: Any = tested.network
    parts = {
        "words": network.embedding,
        "characters": network.spelling and network.spelling.embedding,
        "convolution": network.spelling and network.spelling.convolution,
    }
    with torch.no_grad():
        for part, factor in factors.items():
            parts[part].weight.mul_(factor)
    # Anew: fast passes read the weights when they are built.
    return NetworkWhiteBox(NetworkModel(network, tested.tokenizer, tested.reads, "cpu"))


def test_small_steps_of_words_are_estimated_exactly() -> None:
    facts = check_gradients(scaled("LSTM-W-Random-1", words=1e-3), texts())
    assert facts["correlation"]["swap"] > 0.99
    assert "saturated" not in facts and facts["texts"] == 48
    assert not is_masked(facts)


def test_small_steps_of_single_letters_are_estimated_exactly() -> None:
    """A word of one letter has one window: no maximum moves from one window to another."""
    letters = [Text.of(" ".join("abcdefgh"[n : n + 4])) for n in range(5)]
    facts = check_gradients(scaled("CharCNN-LSTM", characters=1e-3), letters)
    assert facts["correlation"]["flip"] > 0.99
    assert facts["saturated"] == 0


@pytest.mark.parametrize("name", ["CharCNN-LSTM", "CNN-C-Random-1", "BiLSTM-WC-Random-1"])
def test_the_estimates_of_an_unsaturated_network_inform(name: str) -> None:
    facts = check_gradients(scaled(name), texts())
    assert set(facts["correlation"]) == {"flip", "delete", "append", "inner insert"}
    assert facts["correlation"]["flip"] > 0.3 and facts["saturated"] < 0.1
    assert not is_masked(facts)


@pytest.mark.parametrize("name", ["CharCNN-LSTM", "CNN-C-Random-1"])
def test_a_saturated_network_masks_its_gradients(name: str) -> None:
    facts = check_gradients(scaled(name, convolution=1e4), texts())
    assert facts["saturated"] > 0.99
    assert is_masked(facts), facts


def test_the_same_network_gets_the_same_facts() -> None:
    box = scaled("CNN-C-Random-1")
    assert check_gradients(box, texts()) == check_gradients(box, texts())


def test_texts_without_words_are_left_out() -> None:
    box = scaled("CNN-C-Random-1")
    assert check_gradients(box, [Text.of("..."), Text.of("a").mask(0)]) == {}
    assert Text.of("a").mask(0).words == (HOLE,)
    assert describe({}) == "" and not is_masked({})


def test_equal_estimates_tell_nothing() -> None:
    constant, perfect = [(1.0, float(n)) for n in range(4)], [(float(n), n * n) for n in range(4)]
    assert gradient_check._correlation_over_texts([constant]) == 0
    assert gradient_check._correlation_over_texts([constant, perfect]) == pytest.approx(0.5)
