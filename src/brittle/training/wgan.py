"""The losses and steps of a WGAN with gradient penalty, and of its inverter. Needs torch.

The losses of a WGAN with gradient penalty and of its inverter. This file needs torch.

WGAN-GP is Gulrajani et al. (2017); the inverter is equation 2 of Zhao et al. (2018), with squared
errors in both terms, as in their code.

The steps of a WGAN's training: first those of generator and critic, then those of the inverter.
This file needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from brittle.training.checkpoint import StepState
from brittle.training.stepwise import Losses
from brittle.zoo.generators.networks import Wgan
from brittle.zoo.names.settings import PictureGeneratorSettings

SMALLEST_SQUARE = 1e-12  # below it, the gradient of a root is no number


def critic_loss(networks: Wgan, real: Tensor, z: Tensor, mix: Tensor, penalty: float) -> Tensor:
    """Compute the critic's loss; `mix` says where between real and generated the penalty is."""
    with torch.no_grad():
        generated = networks.generator(z)
    between = torch.lerp(real, generated, mix).requires_grad_()
    (gradient,) = torch.autograd.grad(networks.critic(between).sum(), between, create_graph=True)
    norm = gradient.flatten(1).square().sum(dim=1).clamp_min(SMALLEST_SQUARE).sqrt()
    distance: Tensor = networks.critic(generated).mean() - networks.critic(real).mean()
    return distance + penalty * (norm - 1).square().mean()


def generator_loss(networks: Wgan, z: Tensor) -> Tensor:
    """Compute the generator's loss: what the critic thinks of its pictures."""
    loss: Tensor = -networks.critic(networks.generator(z)).mean()
    return loss


def inverter_loss(networks: Wgan, real: Tensor, z: Tensor, cycle: float) -> Tensor:
    """Compute (G(I(x)) − x)² + λ (I(G(z)) − z)², both as means."""
    with torch.no_grad():
        generated = networks.generator(z)
    rebuilt = functional.mse_loss(networks.generator(networks.inverter(real)), real)
    return rebuilt + cycle * functional.mse_loss(networks.inverter(generated), z)


MAX_STEPS_BETWEEN_CHECKPOINTS = 100
NETWORKS = ("generator", "critic", "inverter")


@dataclass
class WganTraining:
    """The networks, the pictures that they learn from, and how far they are.

    `good` are the weights at the last checkpoint whose samples were good.
    """

    networks: Wgan
    settings: PictureGeneratorSettings
    pictures: Tensor
    seed: int
    state: StepState = field(default_factory=StepState)
    good: dict[str, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.device = self.pictures.device
        settings, betas = self.settings, (self.settings.first_beta, self.settings.second_beta)
        rates = dict.fromkeys(NETWORKS, settings.learning_rate) | {
            "inverter": settings.inverter_rate
        }
        self.optimizers = {
            name: torch.optim.Adam(
                self._weights(name).values(), lr=rates[name], betas=betas, foreach=False
            )
            for name in NETWORKS
        }

    @property
    def steps(self) -> int:
        return self.settings.steps + self.settings.inverter_steps

    @property
    def phase(self) -> str:
        return "generator" if self.state.step < self.settings.steps else "inverter"

    @property
    def network(self) -> nn.Module:
        return self.networks

    @property
    def optimized(self) -> Mapping[str, tuple[torch.optim.Optimizer, Mapping[str, nn.Parameter]]]:
        return {name: (self.optimizers[name], self._weights(name)) for name in NETWORKS}

    @property
    def checkpoints(self) -> Sequence[int]:
        planned = min(self.settings.steps, self.settings.inverter_steps)
        every = min(MAX_STEPS_BETWEEN_CHECKPOINTS, max(1, planned // 3))
        return sorted({*range(every, self.steps, every), self.settings.steps, self.steps})

    def make_state(self, **stored: Any) -> StepState:
        return StepState(**stored)

    def step(self) -> Losses:
        """Make the next step.

        Where the samples are good no longer when the inverter begins, it begins with the generator
        of the last checkpoint that was good.
        """
        number = self.state.step
        torch.manual_seed(Random(f"{self.seed}:{number}").getrandbits(63))
        if self.phase == "generator":
            return self._generator_step()
        if number == self.settings.steps:
            self._begin_inverter()
        return self._inverter_step()

    def _generator_step(self) -> Losses:
        settings, total = self.settings, 0.0
        for _ in range(settings.critic_steps):
            real, z = self._batch(), self._noise()
            mix = torch.rand(len(real), 1, 1, 1).to(self.device)
            total += self._descend(
                "critic", critic_loss(self.networks, real, z, mix, settings.penalty)
            )
        own = self._descend("generator", generator_loss(self.networks, self._noise()))
        return {"critic": total / settings.critic_steps, "generator": own}

    def _begin_inverter(self) -> None:
        """Let the inverter begin with the features of the critic, as the paper's is built on it."""
        if self.good and self.state.good_step < self.settings.steps:
            self.networks.load_state_dict(self.good)
        features: nn.Module = self.networks.inverter[0]  # type: ignore[index]
        features.load_state_dict(self.networks.critic.features.state_dict())

    def _inverter_step(self) -> Losses:
        done = (self.state.step - self.settings.steps) / self.settings.inverter_steps
        for group in self.optimizers["inverter"].param_groups:
            group["lr"] = self.settings.inverter_rate * (1 - done)
        loss = inverter_loss(self.networks, self._batch(), self._noise(), self.settings.cycle)
        return {"inverter": self._descend("inverter", loss)}

    def _descend(self, name: str, loss: Tensor) -> float:
        weights = list(self._weights(name).values())
        gradients = torch.autograd.grad(loss, weights)
        for weight, gradient in zip(weights, gradients):
            weight.grad = gradient
        self.optimizers[name].step()
        return loss.item()

    def _batch(self) -> Tensor:
        rows = torch.randint(len(self.pictures), (self.settings.batch_size,))
        return self.pictures[rows.to(self.device)]

    def _noise(self) -> Tensor:
        return torch.randn(self.settings.batch_size, self.settings.latent).to(self.device)

    def _weights(self, name: str) -> dict[str, nn.Parameter]:
        network: nn.Module = getattr(self.networks, name)
        return {f"{name}.{own}": weight for own, weight in network.named_parameters()}
