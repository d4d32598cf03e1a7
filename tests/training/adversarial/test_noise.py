"""Noise along the gradient: how long it is, where it is, and what it does to the loss."""

from __future__ import annotations

from typing import Any

import pytest

from brittle.text import Text
from training.adversarial.test_losses import TEXTS, model_of

torch = pytest.importorskip("torch")

from brittle.training.adversarial.losses import add_noise, clean_half, cross_entropy, worst_noise  # noqa: E402  # noqa: E402
from brittle.zoo.networks import make_batch  # noqa: E402


def backward_pass(name: str) -> Any:
    texts = [Text.of(text) for text in TEXTS]
    model = model_of(name, texts)
    keys = model.tokenizer.encode(texts, model.max_words)
    batch = make_batch(keys, model.tokenizer, "cpu", apart=True)
    label = torch.arange(len(texts)) % 2
    half, embedded, gradient = clean_half(model.network, batch, label)
    return model.network, batch, label, half, embedded, gradient


@pytest.mark.parametrize("name", ["CNN-C-Random-1", "LSTM-WC-Random-1", "BiLSTM-W-Random-1"])
def test_the_noise_has_its_norm_and_raises_the_loss(name: str) -> None:
    network, batch, label, half, embedded, gradient = backward_pass(name)
    for noise in (1e-6, 0.3):
        loud = add_noise(embedded, gradient, batch, noise)
        rise = 0.0
        for part in ("words", "characters"):
            vectors, moved, along = (getattr(e, part) for e in (embedded, loud, gradient))
            if vectors is None:
                continue
            added = (moved - vectors).detach()
            # A row of characters is a word, a row of words a text: Frobenius' norm of each.
            for x, r, g in zip(vectors.detach(), added, along):
                lone = x.norm() > 0 and g.norm() > 0
                assert r.norm().item() == pytest.approx(noise * x.norm().item() if lone else 0)
            at = batch.characters if part == "characters" else batch.words
            assert added[at == 0].abs().max() == 0
            rise += float((along * added).sum())
        logits = network.logits(loud, batch)
        now = float(cross_entropy(logits, label).detach()) / 2
        assert now > float(half)
        if noise < 1e-3:
            assert now - float(half) == pytest.approx(rise, rel=1e-3)


def test_no_noise_of_that_norm_is_worse_to_first_order() -> None:
    torch.manual_seed(1)
    x, g = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    inside = torch.tensor([[True, True, False], [True, True, True]])
    found = worst_noise(x, g, inside, 0.5)
    gain = (found * g).sum(dim=(1, 2))
    for _ in range(50):
        other = torch.randn(2, 3, 4) * inside[:, :, None]
        other *= found.norm(dim=(1, 2))[:, None, None] / other.norm(dim=(1, 2))[:, None, None]
        assert ((other * g).sum(dim=(1, 2)) < gain).all()


@pytest.mark.parametrize("scale", [1.0, 1e-25, 0.0])
def test_a_tiny_gradient_is_still_a_direction(scale: float) -> None:
    x = torch.full((1, 2, 2), 3.0)
    g = torch.tensor([[[3.0, 0.0], [0.0, 4.0]]]) * scale
    expected = [[3.6, 0.0], [0.0, 4.8]] if scale else [[0.0, 0.0], [0.0, 0.0]]
    found = worst_noise(x, g, torch.ones(1, 2, dtype=torch.bool), 1.0)
    assert torch.allclose(found, torch.tensor([expected]))
