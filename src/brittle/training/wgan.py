"""The losses of a WGAN with gradient penalty and of its inverter. This file needs torch.

WGAN-GP is Gulrajani et al. (2017); the inverter is equation 2 of Zhao et al. (2018), with squared
errors in both terms, as in their code.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from brittle.zoo.generators.networks import Wgan

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
