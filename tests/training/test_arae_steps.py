"""The steps of an ARAE: what is learnt, what the critic tells the encoder, the inverter's loss."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from brittle.zoo.generators.sentences import SentenceTokenizer
from brittle.zoo.names import grid

torch = pytest.importorskip("torch")
SENTENCES = [
    f"{who} {does} {where}."
    for who, does, where in product(("A man", "Two dogs"), ("runs", "sits"), ("here", "at home"))
]


def trainer(**changed: Any) -> Any:
    from brittle.training.arae_steps import SentenceRows, Trainer
    from brittle.zoo.generators.arae import ARAE

    settings: Any = grid.settings(grid.design("ARAE"), "tiny")
    few = {"critic_steps": 1, "more_rounds": (1_000_000,)}
    settings = replace(settings, hidden=24, embedding=16, rate=1e-2, **(few | changed))
    tokenizer = SentenceTokenizer.of(SENTENCES, settings.reads)
    rows = torch.from_numpy(tokenizer.rows(SENTENCES))
    torch.manual_seed(0)
    return Trainer(ARAE(settings, len(tokenizer)), settings, SentenceRows(rows, rows))


@pytest.mark.slow
def test_the_autoencoder_rebuilds_what_it_has_learnt_and_the_inverter_finds_its_codes() -> None:
    from brittle.training.arae_steps import encode_rows, fit_inverter

    training = trainer(inverter_steps=150, inverter_rate=1e-2)
    for number in range(120):
        training.step(number, seed=0)
    model, rows = training.model.eval(), training.rows.train
    with torch.no_grad():
        code = model.codes(rows)
        assert torch.allclose(code.norm(dim=1), torch.ones(len(rows)), atol=1e-5)
        again = model.decoder.greedy(code)
        assert float((again == rows)[rows != 0].float().mean()) > 0.9

        def error() -> float:
            return float((model.generator(model.inverter(code)) - code).norm(dim=1).mean())

        before = error()
    assert torch.equal(encode_rows(model, rows), code)
    fit_inverter(model, training.settings, rows, seed=0)
    with torch.no_grad():
        assert error() < before


def test_the_critics_gradient_is_turned_round_and_scaled() -> None:
    training = trainer(to_encoder=0.25)
    training.code_gradient = 3.0
    gradient = torch.randn(5, 24)
    turned = training._reversed(gradient)
    assert np.isclose(float(turned.norm(dim=1).mean()), 0.25 * 3.0)
    cosine = torch.nn.functional.cosine_similarity(turned, gradient)
    assert torch.allclose(cosine, -torch.ones(5), atol=1e-5)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_critic_step_moves_the_encoder_now_or_with_the_next_step(optimizer: str) -> None:
    training = trainer(optimizer=optimizer)
    training.code_gradient = 1.0
    weight = training.model.encoder.out.weight
    before, decoder = weight.clone(), training.model.decoder.head.weight.clone()
    training._critic_step()
    moved = not torch.equal(weight, before)
    assert moved == (optimizer == "sgd")
    assert (weight.grad is not None and bool(weight.grad.any())) == (optimizer == "adam")
    assert torch.equal(training.model.decoder.head.weight, decoder)
    limit = training.settings.clamp + 2 * training.settings.critic_rate  # a step after the clamp
    assert all(float(p.detach().abs().max()) <= limit for p in training.model.critic.parameters())


def test_the_divergence_is_that_of_two_normal_distributions() -> None:
    from brittle.training.arae_steps import divergence

    first, second = torch.randn(200, 3), 2 * torch.randn(100, 3) + 1

    def kl(m: float, v: float, n: float, w: float) -> float:
        return 0.5 * (np.log(w / v) + (v + (m - n) ** 2) / w - 1)

    (m, v), (n, w) = ((float(x.mean()), float(x.var())) for x in (first, second))
    expected = (kl(m, v, n, w) + kl(n, w, m, v)) / 2
    assert np.isclose(float(divergence(first, second)), expected, rtol=1e-4)
    assert abs(float(divergence(first, first))) < 1e-6
