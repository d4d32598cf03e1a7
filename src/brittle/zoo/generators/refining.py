"""Latent points improved by descent, and the name of a generator that does so. Needs torch.

Section 6 of Zhao et al. (2018) proposes it: the generator stays as it is, and the point moves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import torch
from torch import Tensor

from brittle.zoo.folder import Card

RATE = 0.05


def descend(error: Callable[[Tensor], Tensor], start: Tensor, steps: int) -> Tensor:
    """Improve latent points by Adam on their errors, one a row; the best point on each way counts.

    Adam moves every number by itself, so a point does not depend on the others.
    """
    z = start.clone().requires_grad_()
    best, lowest = z.detach().clone(), z.new_full((len(z),), torch.inf)
    optimizer = torch.optim.Adam([z], lr=RATE, foreach=False)
    for step in range(steps + 1):
        with torch.enable_grad():
            errors = error(z)
            total = errors.sum()
        is_better = errors.detach() < lowest
        lowest = torch.where(is_better, errors.detach(), lowest)
        best[is_better] = z.detach()[is_better]
        if step < steps:
            (z.grad,) = torch.autograd.grad(total, z)
            optimizer.step()
    return best


def refined_identity(card: Card, steps: int) -> tuple[str, str]:
    """Return name and fingerprint of a generator; with steps it is another one."""
    if not steps:
        return card.full_name, card.fingerprint
    about = f"{card.fingerprint} refined {steps} {RATE}"
    name = f"{card.full_name} refined by {steps} steps"
    return name, hashlib.sha256(about.encode()).hexdigest()
