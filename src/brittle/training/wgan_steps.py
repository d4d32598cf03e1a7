"""The steps of a WGAN's training, with checkpoints between them. This file needs torch.

Every step has its own seed, so that a resumed training ends with the same weights as an
undisturbed one. The first steps train generator and critic, the others the inverter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import torch
from torch import Tensor, nn

from brittle.training import checkpoint
from brittle.training.checkpoint import GanState
from brittle.training.optimizers import restore_state, state_of
from brittle.training.wgan import critic_loss, generator_loss, inverter_loss
from brittle.zoo.generators.networks import Wgan
from brittle.zoo.names.settings import PictureGeneratorSettings

MAX_STEPS_BETWEEN_CHECKPOINTS = 100
NETWORKS = ("generator", "critic", "inverter")
Losses = dict[str, float]


@dataclass
class WganTraining:
    """The networks, the pictures that they learn from, and how far they are.

    `good` are the weights at the last checkpoint whose samples were good.
    """

    networks: Wgan
    settings: PictureGeneratorSettings
    pictures: Tensor
    seed: int
    state: GanState = field(default_factory=GanState)
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

    def run(
        self,
        folder: Path,
        at_checkpoint: Callable[[Losses], None],
        is_good: Callable[[], bool] = lambda: True,
    ) -> None:
        """Make all steps that are not done; ArithmeticError if a loss or a weight is no number.

        `at_checkpoint` is called after each checkpoint, with the mean losses since the last one.
        `is_good` judges the samples; where they are good no longer when the inverter begins, it
        begins with the generator of the last checkpoint that was.
        """
        planned = min(self.settings.steps, self.settings.inverter_steps)
        every = min(MAX_STEPS_BETWEEN_CHECKPOINTS, max(1, planned // 3))
        sums: Losses = {}
        since = 0
        while self.state.step < self.steps:
            for name, value in self._step().items():
                if not math.isfinite(value):
                    raise ArithmeticError(
                        f"the loss of the {name} is {value} in step {self.state.step + 1}"
                    )
                sums[name] = sums.get(name, 0.0) + value
            since += 1
            self.state.step += 1
            if self.state.step % every and self.state.step not in (self.settings.steps, self.steps):
                continue
            self._check_weights()
            if self.state.step <= self.settings.steps and is_good():
                self.state.good_step = self.state.step
                self.good = {n: t.detach().clone() for n, t in self.networks.state_dict().items()}
            self._save(folder)
            at_checkpoint({name: total / since for name, total in sums.items()})
            sums, since = {}, 0

    def resume(self, folder: Path) -> bool:
        """Restore weights, optimizers and step from the checkpoint; tell whether there was one."""
        stored = checkpoint.load(folder, GanState)
        if stored is None:
            return False
        self.state, arrays = stored
        tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
        own, self.good = (
            {n.removeprefix(part): t for n, t in tensors.items() if n.startswith(part)}
            for part in ("now.", "good.")
        )
        self.networks.load_state_dict(own)
        for name, optimizer in self.optimizers.items():
            restore_state(optimizer, self._weights(name), tensors)
        return True

    def _step(self) -> Losses:
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

    def _check_weights(self) -> None:
        if not all(torch.isfinite(weight).all() for weight in self.networks.parameters()):
            raise ArithmeticError(f"some weights are no numbers after step {self.state.step}")

    def _save(self, folder: Path) -> None:
        tensors = {f"now.{name}": t for name, t in self.networks.state_dict().items()}
        tensors |= {f"good.{name}": tensor for name, tensor in self.good.items()}
        for name, optimizer in self.optimizers.items():
            tensors |= state_of(optimizer, self._weights(name))
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}
        checkpoint.save(folder, self.state, arrays)
