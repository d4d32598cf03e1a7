"""The steps that train an ARAE: autoencoder, critic and generator in turns.

Equations 4 to 6 of Zhao et al. (2018), with what their code adds. Batches are drawn at random, with
replacement. Every step has its own seed: what it draws does not depend on the steps before it. This
file needs torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor, nn

from brittle.training.arae_latent import LatentTrainer
from brittle.zoo.generators.arae import ARAE
from brittle.zoo.names.settings import SentenceGeneratorSettings

NOISE_STEPS = 100  # steps after which the noise falls


@dataclass(frozen=True)
class SentenceRows:
    """The rows of the train and the dev sentences, on the device."""

    train: Tensor
    dev: Tensor


class Trainer:
    """The networks of an ARAE in training, with their optimizers; the inverter is none of them."""

    def __init__(self, model: ARAE, settings: SentenceGeneratorSettings, rows: SentenceRows):
        self.model, self.settings, self.rows = model, settings, rows
        self.code_gradient = 0.0  # the mean norm of the autoencoder's gradient by a code
        self.latent = LatentTrainer(model, settings)
        both = [*model.encoder.parameters(), *model.decoder.parameters()]
        kind = torch.optim.SGD if settings.optimizer == "sgd" else torch.optim.Adam
        self.optimizers: dict[str, torch.optim.Optimizer] = {
            "autoencoder": kind(both, lr=settings.learning_rate, foreach=False),
            "critic": self.latent.optimizers["critic"],
            "generator": self.latent.optimizers["generator"],
        }

    def step(self, number: int, seed: int) -> float:
        """Run one step; return the autoencoder's loss. The steps before it do not matter here."""
        random = Random(f"{seed}:{number}")
        torch.manual_seed(random.getrandbits(63))
        epoch = number * self.settings.batch_size // len(self.rows.train)
        loss = self._autoencoder_step(number)
        for _ in range(1 + sum(epoch >= end for end in self.settings.more_rounds)):
            for _ in range(self.settings.critic_steps):
                with torch.no_grad():
                    codes = self.model.codes(self._batch())
                self.latent.critic_step(codes)
            self._encoder_step()
            self.latent.generator_step(codes)
        return loss

    def _batch(self) -> Tensor:
        rows = self.rows.train
        size = min(self.settings.batch_size, len(rows))
        return rows[torch.randint(len(rows), (size,), device=rows.device)]

    def _autoencoder_step(self, number: int) -> float:
        """Rebuild sentences from noisy codes (equation 4)."""
        model, settings, rows = self.model, self.settings, self._batch()
        optimizer = self.optimizers["autoencoder"]
        for group in optimizer.param_groups:
            group["lr"] = self._rate(number)
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

    def _rate(self, number: int) -> float:
        """Return the rate of a step: Adam's falls to 0, that of the authors' SGD stays."""
        settings = self.settings
        falls = settings.optimizer == "adam"
        return (
            settings.learning_rate * (1 - number / settings.steps)
            if falls
            else settings.learning_rate
        )

    def _encoder_step(self) -> None:
        """Move the encoder against the critic (equation 6).

        Adam would make a whole step of a small gradient, so with it the encoder's share waits for
        the next step of the autoencoder.
        """
        code = self.model.codes(self._batch())
        code.register_hook(self._scaled)  # type: ignore[no-untyped-call]
        weights = list(self.model.encoder.parameters())
        loss = self.model.critic(code).mean()
        for weight, gradient in zip(weights, torch.autograd.grad(loss, weights)):
            weight.grad = gradient if weight.grad is None else weight.grad + gradient
        if self.settings.optimizer == "sgd":
            self._clip()
            self.optimizers["autoencoder"].step()
            self.optimizers["autoencoder"].zero_grad()

    def _scaled(self, gradient: Tensor) -> Tensor:
        """Scale the critic's gradient to the autoencoder's."""
        norm = gradient.norm(dim=1).mean().clamp(min=1e-12)
        scaled: Tensor = self.settings.to_encoder * self.code_gradient / norm * gradient
        return scaled

    def _clip(self) -> None:
        weights = self.optimizers["autoencoder"].param_groups[0]["params"]
        nn.utils.clip_grad_norm_(weights, self.settings.max_grad_norm)
