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
    few = {"critic_steps": 1, "critic": "clamp", "encoder": "cnn", "learning_rate": 1e-2}
    settings = replace(settings, hidden=24, embedding=16, **(few | changed))
    tokenizer = SentenceTokenizer.of(SENTENCES, settings.max_length)
    rows = torch.from_numpy(tokenizer.rows(SENTENCES))
    torch.manual_seed(0)
    return Trainer(ARAE(settings, len(tokenizer)), settings, SentenceRows(rows, rows))


def rebuilding_error(model: Any, codes: Any) -> float:
    with torch.no_grad():
        return float((model.generator(model.inverter(codes)) - codes).norm(dim=1).mean())


@pytest.mark.slow
@pytest.mark.parametrize("critic", ["penalty", "clamp"])
def test_the_autoencoder_rebuilds_what_it_has_learnt_and_generator_and_inverter_its_codes(
    critic: str,
) -> None:
    from brittle.training.arae_steps import encode_rows, fit_latent

    changed = {"critic": critic, "generator_steps": 300 if critic == "penalty" else 0}
    changed |= {"steps": 480, "inverter_steps": 150}  # the rate falls to 0 in so many steps
    training = trainer(inverter_rate=1e-2, generator_rate=1e-3, **changed)
    for number in range(120):
        training.step(number, seed=0)
    model, rows = training.model.eval(), training.rows.train
    with torch.no_grad():
        code = model.codes(rows)
        assert torch.allclose(code.norm(dim=1), torch.ones(len(rows)), atol=1e-5)
        again = model.decoder.greedy(code)
        assert float((again == rows)[rows != 0].float().mean()) > 0.9
    before = rebuilding_error(model, code)
    assert torch.equal(encode_rows(model, rows), code)
    autoencoder = [weight.clone() for weight in model.encoder.parameters()]
    fit_latent(model, training.settings, rows, seed=0)
    error = rebuilding_error(model, code)
    assert error < before and (critic == "clamp" or error < 0.5)
    assert all(map(torch.equal, autoencoder, model.encoder.parameters()))  # they rest
    assert not any(module.training for module in model.modules())


def test_a_sample_of_the_words_stands_for_all_of_them() -> None:
    from brittle.zoo.generators.arae import sampled_cross_entropy

    torch.manual_seed(0)
    head, states = torch.nn.Linear(16, 400), torch.randn(6, 16)
    wanted = torch.tensor([7, 9, 7, 30, 200, 9])

    def loss(sampled: int, reduction: str = "mean") -> torch.Tensor:
        weights = head.weight, head.bias
        return sampled_cross_entropy(states, *weights, wanted, sampled, reduction)

    with torch.no_grad():
        plain = torch.nn.functional.cross_entropy(head(states), wanted)
        assert torch.equal(loss(0), plain)
        assert torch.equal(loss(396), plain)  # as many as there are other words
        drawn = torch.stack([loss(100) for _ in range(400)])
        assert loss(100, "none").shape == (6,)
    assert float(drawn.std()) > 0
    assert np.isclose(float(drawn.mean()), float(plain), rtol=0.01)


def test_each_step_moves_its_own_networks_alone() -> None:
    training = trainer(critic="penalty")
    model, latent = training.model, training.latent
    with torch.no_grad():
        codes = model.codes(training.rows.train)
    steps = {
        "critic": latent.critic_step,
        "generator": latent.generator_step,
        "generator inverter": latent.rebuilding_step,
        "inverter": latent.inverter_step,
    }
    for moved, step in steps.items():
        before = {name: weight.clone() for name, weight in model.named_parameters()}
        step(codes)
        changed = {
            name.partition(".")[0]
            for name, weight in model.named_parameters()
            if not torch.equal(weight, before[name])
        }
        assert changed == set(moved.split())
    made = model.generator(torch.randn(5, training.settings.latent))
    assert torch.allclose(made.norm(dim=1), torch.ones(5), atol=1e-5)


def test_the_penalty_is_none_where_the_slope_is_one() -> None:
    training = trainer(critic="penalty")
    plain = training.model.critic = torch.nn.Linear(24, 1)
    codes, fake = torch.randn(7, 24), torch.randn(7, 24)
    for slope in (1.0, 3.0):
        with torch.no_grad():
            plain.weight.mul_(slope / plain.weight.norm())
        found = float(training.latent._gradient_penalty(codes, fake).detach())
        assert np.isclose(found, (slope - 1) ** 2, atol=1e-6)


def test_the_critics_gradient_is_scaled_to_the_autoencoders() -> None:
    training = trainer(to_encoder=0.25)
    training.code_gradient = 3.0
    gradient = torch.randn(5, 24)
    scaled = training._scaled(gradient)
    assert np.isclose(float(scaled.norm(dim=1).mean()), 0.25 * 3.0)
    cosine = torch.nn.functional.cosine_similarity(scaled, gradient)
    assert torch.allclose(cosine, torch.ones(5), atol=1e-5)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_the_encoder_moves_against_the_critic_now_or_with_the_next_step(optimizer: str) -> None:
    training = trainer(optimizer=optimizer)
    training.code_gradient = 1.0
    weight = training.model.encoder.out.weight
    before, decoder = weight.clone(), training.model.decoder.head.weight.clone()
    critic = [w.clone() for w in training.model.critic.parameters()]
    training._encoder_step()
    moved = not torch.equal(weight, before)
    assert moved == (optimizer == "sgd")
    assert (weight.grad is not None and bool(weight.grad.any())) == (optimizer == "adam")
    assert torch.equal(training.model.decoder.head.weight, decoder)
    assert all(map(torch.equal, critic, training.model.critic.parameters()))


def test_the_encoder_lowers_what_the_critic_says() -> None:
    training = trainer(optimizer="sgd", learning_rate=0.5, to_encoder=1.0, max_grad_norm=1.0)
    training.code_gradient = 1.0
    training.model.critic.eval()

    def said() -> float:
        with torch.no_grad():
            return float(training.model.critic(training.model.codes(training.rows.train)).mean())

    before = said()
    for _ in range(5):
        training._encoder_step()
    assert said() < before


def test_weights_of_the_critic_are_clamped() -> None:
    training = trainer()
    training.latent.critic_step(torch.randn(6, 24))
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
