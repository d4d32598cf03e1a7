"""Spellings forward and back, against the network and torch's own derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.zoo import layers  # noqa: E402
from brittle.zoo.fast import character_gradients as module  # noqa: E402
from brittle.zoo.fast.character_gradients import CharacterPasses  # noqa: E402
from zoo.exact import close, model  # noqa: E402

WORDS = ["film", "o", "don't", "god", "tattooing", "mingle", "ŷa", "fogdatle", "film"]


def spelling(**changed: Any) -> tuple[Any, Any]:
    """A network's spelling, and its words as rows of characters, the first one padding."""
    tested = model("CharCNN-LSTM", **changed)
    rows = np.zeros((1 + len(WORDS), tested.tokenizer.spelling), dtype=np.int64)
    for row, word in zip(rows[1:], WORDS):
        numbers = tested.tokenizer.character_ids(word)
        row[: len(numbers)] = numbers
    return tested.network.spelling, rows


@pytest.mark.parametrize("highways", [0, 1, 3])
def test_vectors_are_the_network_s(highways: int) -> None:
    network, rows = spelling(highways=highways)
    found = CharacterPasses(network).forward(rows)
    length = torch.tensor((rows != 0).sum(axis=1))
    with torch.no_grad():
        vectors = network.embed(torch.tensor(rows))
        assert close(found.layers[0], network.pooled(vectors, length))
        assert close(found.layers[-1], network(vectors, length))
    assert len(found.layers) == 1 + highways


@pytest.mark.parametrize("entries", [1 << 23, 60])
@pytest.mark.parametrize("changed", [{}, {"highways": 0}, {"character_window": 6, "highways": 1}])
def test_gradients_are_torch_s_own(
    changed: dict[str, int], entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layers, "LENGTH_GROUP", 64)
    monkeypatch.setattr(module, "MAX_TABLE_ENTRIES", entries)
    network, rows = spelling(**changed)
    which = np.array([3, 1, 5, 5, 9, 2, 8, 7, 4])  # words come again, and in any order
    length = (rows != 0).sum(axis=1)[which]
    gradient = torch.randn((len(which), network.width), dtype=torch.float64)
    vectors = network.embed(torch.tensor(rows[which])).detach().requires_grad_()
    (network(vectors, torch.tensor(length)) * gradient).sum().backward()
    found = CharacterPasses(network).forward(rows).backward(which, gradient, rows.shape[1])
    expected = [
        vectors.grad[n, : min(count + 1, rows.shape[1])] for n, count in enumerate(length.tolist())
    ]
    assert close(found, torch.cat(expected))
    assert all(part[-1].any() for part in expected)  # also after the last character


def test_no_words_have_no_gradients() -> None:
    network, rows = spelling()
    found = CharacterPasses(network).forward(rows)
    none = torch.zeros((0, network.width), dtype=torch.float64)
    assert found.backward(np.arange(0), none, 8).shape == (0, network.embedding.weight.shape[1])


def test_weights_that_are_not_numbers_break_nothing() -> None:
    network, rows = spelling()
    with torch.no_grad():
        network.convolution.weight[0, 0] = torch.nan
    found = CharacterPasses(network).forward(rows)
    gradient = torch.ones((1, network.width), dtype=torch.float64)
    assert found.backward(np.array([1]), gradient, 8).isnan().any()
