"""A network that declares it reads a text to the same bits in passes of one length and of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from brittle.moves import EditRequest, EditSpace
from brittle.text import Text
from brittle.zoo.gradients import GradientPasses
from brittle.zoo.names import grid
from brittle.zoo.names.settings import NetworkSettings
from brittle.zoo.networks import build
from zoo import small

DECLARED = [
    *("LSTM-W-Random-1", "LSTM-W-Random-2-max", "BiLSTM-W-Random-1", "BiLSTM-W-Random-2-max"),
    *("CNN-W-Random-1", "CNN-W-Random-1-last", "LSTM-WC-ELMo-1", "BiLSTM-W-Random-1-pair"),
]
OTHERS = [
    *("Average-W-Random", "LSTM-W-Random-1-mean", "BiLSTM-W-Random-1-attention"),
    *("CNN-W-Random-1-mean", "CNN-W-Random-2", "Transformer-W-Random-1"),
]
ROWS = 32


def network(name: str, **changed: Any) -> tuple[Any, int]:
    """Build a network of the default size with random weights; return the size of its vectors."""
    design = grid.design(name)
    settings = grid.settings(design, **changed)
    assert isinstance(settings, NetworkSettings)
    torch.manual_seed(0)
    bilm = small.random_bilm(20) if design.parts["embedding"] == "ELMo" else None
    built = build(design.parts, settings, 100, 20, 3, bilm).eval()
    with torch.no_grad():
        for weight in built.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    return built, settings.embedding if bilm is None else bilm.width


def read(built: Any, texts: list[Any]) -> tuple[Any, Any, Any]:
    """Compute the logits in both modes of torch, and the gradients along the vectors."""
    length = torch.tensor([len(text) for text in texts])
    vectors = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True).requires_grad_()
    logits = built.classify(built.encoder_input(vectors, length), length)
    [gradient] = torch.autograd.grad((logits * torch.tensor([1.0, -0.5, 0.3])).sum(), vectors)
    with torch.inference_mode():
        plain = built.classify(built.encoder_input(vectors.detach(), length), length)
    return logits.detach(), plain, gradient


@pytest.mark.parametrize(
    "changed", [pytest.param({}, marks=pytest.mark.slow), {"hidden": 33, "filters": 7}]
)
@pytest.mark.parametrize("name", DECLARED)
def test_logits_and_gradients_are_the_same_bits_with_padding(
    name: str, changed: dict[str, int]
) -> None:
    built, size = network(name, **changed)
    assert built.ignores_padding
    random = np.random.default_rng(1)
    sides = 1 if built.joined is None else 2
    for longest in (3, 12, 60):
        lengths = random.integers(1, longest + 1, size=ROWS * sides)
        texts = [torch.randn(int(n), size) for n in lengths]
        logits, plain, gradient = read(built, texts)
        for row in random.choice(ROWS, 6, replace=False):
            alone = texts[row * sides : (row + 1) * sides]
            # In the same row: what depends on the row of a pass, padding has no part in.
            own_logits, own_plain, own_gradient = read(built, alone * ROWS)
            assert torch.equal(own_logits[row], logits[row])
            assert torch.equal(own_plain[row], plain[row])
            for n, text in enumerate(alone, start=row * sides):
                assert torch.equal(own_gradient[n, : len(text)], gradient[n, : len(text)])


@pytest.mark.parametrize("name", OTHERS)
def test_networks_that_sum_over_words_do_not_declare_it(name: str) -> None:
    assert not network(name)[0].ignores_padding


@pytest.mark.parametrize(("name", "is_mixed"), [("BiLSTM-W-Random-1", True), (OTHERS[2], False)])
def test_only_networks_that_declare_it_take_texts_of_many_lengths_in_a_pass(
    name: str, is_mixed: bool
) -> None:
    passes = GradientPasses(small.model(name))
    texts = [Text.of(" ".join(["a"] * n)) for n in (3, 5, 5, 8)]
    requests = [EditRequest(text, 0, None, EditSpace("words"), range(3)) for text in texts]
    lengths = [batch.embedded.length.tolist() for _, batch in passes.compute(requests)]
    assert lengths == ([[3, 5, 5, 8]] if is_mixed else [[3], [5, 5], [8]])
