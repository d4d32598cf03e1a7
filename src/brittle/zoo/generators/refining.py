"""Descent in a latent space towards a picture, with the generator fixed. This file needs torch."""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.ranking.whole_rows import whole_rows
from brittle.zoo.folder import Card

REFINING_RATE = 0.05


def descend(
    generator: nn.Module, start: NDArray[np.float32], pixels: Tensor, steps: int
) -> NDArray[np.float32]:
    """Improve latent points by Adam on ‖G(z) − x‖²; the best point on the way of each counts.

    Adam moves every number by itself, so the point of a picture does not depend on the others.
    """
    device = pixels.device
    z = whole_rows(torch.from_numpy(start).to(device)).clone().requires_grad_()
    wanted = whole_rows(pixels.flatten(1))
    best, lowest = z.detach().clone(), torch.full((len(z),), torch.inf, device=device)
    optimizer = torch.optim.Adam([z], lr=REFINING_RATE, foreach=False)
    for step in range(steps + 1):
        with torch.enable_grad():
            error = (generator(z).flatten(1) - wanted).square().sum(dim=1)
        is_better = error.detach() < lowest
        lowest = torch.where(is_better, error.detach(), lowest)
        best[is_better] = z.detach()[is_better]
        if step < steps:
            (z.grad,) = torch.autograd.grad(error.sum(), z)
            optimizer.step()
    rows: NDArray[np.float32] = best[: len(start)].cpu().numpy()
    return rows


def refined_identity(card: Card, steps: int, rate: float) -> tuple[str, str]:
    """Return name and fingerprint of a generator; with steps it is another one."""
    if not steps:
        return card.full_name, card.fingerprint
    about = f"{card.fingerprint} refined {steps} {rate}"
    name = f"{card.full_name} refined by {steps} steps"
    return name, hashlib.sha256(about.encode()).hexdigest()
