"""The steps that train an ARAE: autoencoder, critic and generator in turns; and the inverter.

Equations 4 to 7 of Zhao et al. (2018), with what their code adds. Batches are drawn at random, with
replacement. Every step has its own seed: what it draws does not depend on the steps before it. This
file needs torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor, nn

from brittle.zoo.generators.arae import ARAE, parts_of
from brittle.zoo.names.settings import SentenceGeneratorSettings

BETAS = (0.5, 0.999)  # Adam's, for generator, critic and inverter, as in the authors' code
NOISE_STEPS = 100  # steps after which the noise falls
CODES_PER_PASS = 1024


@dataclass(frozen=True)
class SentenceRows:
    """The rows of the train and the dev sentences, on the device."""

    train: Tensor
    dev: Tensor


class Trainer:
    """The networks of an ARAE in training, with their optimizers."""

    def __init__(self, model: ARAE, settings: SentenceGeneratorSettings, rows: SentenceRows):
        self.model, self.settings, self.rows = model, settings, rows
        self.code_gradient = 0.0  # the mean norm of the autoencoder's gradient by a code
        both = [*model.encoder.parameters(), *model.decoder.parameters()]
        kind = torch.optim.SGD if settings.optimizer == "sgd" else torch.optim.Adam
        self.optimizers: dict[str, torch.optim.Optimizer] = {
            "autoencoder": kind(both, lr=settings.rate, foreach=False),
            "critic": _adam(model.critic, settings.critic_rate),
            "generator": _adam(model.generator, settings.generator_rate),
        }

    def step(self, number: int, seed: int) -> float:
        """Run one step; return the autoencoder's loss. The steps before it do not matter here."""
        random = Random(f"{seed}:{number}")
        torch.manual_seed(random.getrandbits(63))
        epoch = number * self.settings.batch // len(self.rows.train)
        loss = self._autoencoder_step(number)
        for _ in range(1 + sum(epoch >= end for end in self.settings.more_rounds)):
            for _ in range(self.settings.critic_steps):
                self._critic_step()
            self._generator_step()
        return loss

    def _batch(self) -> Tensor:
        rows = self.rows.train
        size = min(self.settings.batch, len(rows))
        return rows[torch.randint(len(rows), (size,), device=rows.device)]

    def _latent(self) -> Tensor:
        shape = (min(self.settings.batch, len(self.rows.train)), self.settings.latent)
        return torch.randn(shape, device=self.rows.train.device)

    def _autoencoder_step(self, number: int) -> float:
        """Rebuild sentences from noisy codes (equation 4)."""
        model, settings, rows = self.model, self.settings, self._batch()
        optimizer = self.optimizers["autoencoder"]
        code = model.codes(rows)
        code.retain_grad()
        noise = settings.noise * settings.noise_decay ** (number // NOISE_STEPS)
        loss = model.decoder.loss(code + noise * torch.randn_like(code), rows)
        loss.backward()  # type: ignore[no-untyped-call]
        assert code.grad is not None
        self.code_gradient = float(code.grad.norm(dim=1).mean())
        self._clip()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss.detach())

    def _critic_step(self) -> None:
        """Tell codes of sentences from generated ones (5); move the encoder against it (6).

        Adam would make a whole step of a small gradient, so with it the encoder's share waits for
        the next step of the autoencoder.
        """
        model, limit = self.model, self.settings.clamp
        with torch.no_grad():
            for weight in model.critic.parameters():
                weight.clamp_(-limit, limit)
            fake = model.generator(self._latent())
        self.optimizers["critic"].zero_grad()
        code = model.codes(self._batch())
        code.register_hook(self._reversed)  # type: ignore[no-untyped-call]
        loss = model.critic(fake).mean() - model.critic(code).mean()
        loss.backward()
        self.optimizers["critic"].step()
        if self.settings.optimizer == "sgd":
            self._clip()
            self.optimizers["autoencoder"].step()
            self.optimizers["autoencoder"].zero_grad()

    def _generator_step(self) -> None:
        """Make codes that the critic takes for real ones (equation 6)."""
        self.optimizers["generator"].zero_grad()
        loss = -self.model.critic(self.model.generator(self._latent())).mean()
        loss.backward()
        self.optimizers["generator"].step()

    def _reversed(self, gradient: Tensor) -> Tensor:
        """Scale the critic's gradient to the autoencoder's, and turn it round."""
        norm = gradient.norm(dim=1).mean().clamp(min=1e-12)
        turned: Tensor = -self.settings.to_encoder * self.code_gradient / norm * gradient
        return turned

    def _clip(self) -> None:
        weights = self.optimizers["autoencoder"].param_groups[0]["params"]
        nn.utils.clip_grad_norm_(weights, self.settings.clip)

    def is_finite(self) -> bool:
        return all(bool(torch.isfinite(weight).all()) for weight in self.model.parameters())


def fit_inverter(model: ARAE, settings: SentenceGeneratorSettings, rows: Tensor, seed: int) -> None:
    """Fit the inverter to a generator that stays as it is (equation 7).

    As in the authors' code both terms count half, and the divergence is the symmetric one of
    Kullback and Leibler between two normal distributions, each of one mean and one deviation over
    all numbers of a batch.
    """
    codes = encode_rows(model, rows)
    optimizer = _adam(model.inverter, settings.inverter_rate)
    torch.manual_seed(Random(f"{seed}:inverter").getrandbits(63))
    model.eval()
    model.inverter.train()
    for _ in range(settings.inverter_steps):
        code = codes[torch.randint(len(codes), (settings.batch,), device=codes.device)]
        z = torch.randn((settings.batch, settings.latent), device=codes.device)
        with torch.no_grad():
            generated = model.generator(z)
        optimizer.zero_grad()
        rebuilt = (model.generator(model.inverter(code)) - code).square().sum(dim=1).mean()
        loss = rebuilt / 2 + divergence(z, model.inverter(generated)) / 2
        loss.backward()
        optimizer.step()
    model.inverter.eval()


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """Return the symmetric divergence of two normal distributions fitted to all numbers of each."""
    means = first.mean(), second.mean()
    variances = first.var() + 1e-8, second.var() + 1e-8
    apart = (means[0] - means[1]) ** 2
    forward = (variances[0] + apart) / variances[1]
    backward = (variances[1] + apart) / variances[0]
    return (forward + backward - 2) / 4


def encode_rows(model: ARAE, rows: Tensor) -> Tensor:
    """Encode all rows, in passes, without gradients."""
    with torch.no_grad():
        return torch.cat([model.codes(part) for part in parts_of(rows, CODES_PER_PASS)])


def _adam(module: nn.Module, rate: float) -> torch.optim.Adam:
    return torch.optim.Adam(module.parameters(), lr=rate, betas=BETAS, foreach=False)
