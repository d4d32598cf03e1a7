"""The gradient of a request's objective by the pixels of its picture. This file needs torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.picture import PixelGradientRequest

Pixels = NDArray[np.float32]


def as_tensor(pixels: Pixels, device: torch.device | str) -> Tensor:
    """Turn pictures × height × width × channels into pictures × channels × height × width."""
    return torch.from_numpy(np.array(pixels.transpose(0, 3, 1, 2), order="C")).to(device)


def pixel_gradients(
    logits_of: Callable[[Tensor], Tensor],
    requests: Sequence[PixelGradientRequest],
    device: torch.device | str,
) -> list[Pixels]:
    """Compute every request's gradient, in the shape of its picture.

    `logits_of` is the forward pass, from pictures × channels × height × width to logits.
    """
    pixels = np.stack([request.picture.pixels for request in requests])
    leaf = as_tensor(pixels, device).requires_grad_()
    with torch.enable_grad():
        logits = logits_of(leaf)
        along = _objective_gradient(logits.detach().double(), requests).to(logits.dtype)
        (gradient,) = torch.autograd.grad(logits, leaf, along)
    return list(gradient.permute(0, 2, 3, 1).cpu().numpy())


def _objective_gradient(logits: Tensor, requests: Sequence[PixelGradientRequest]) -> Tensor:
    """Compute the gradient of the objectives along the logits: ± ([i = c] − p) for a class c.

    For 1 − p the sum of the others is taken, so that nothing cancels where p is nearly 1.
    """
    aimed = [r.label if r.toward is None else r.toward for r in requests]
    column = torch.tensor(aimed, device=logits.device)[:, None]
    sign = [[-1.0 if r.toward is None else 1.0] for r in requests]
    others = logits.softmax(dim=1).scatter(1, column, 0.0)
    own = others.sum(dim=1, keepdim=True)
    gradient = (-others).scatter(1, column, own)
    return gradient * torch.tensor(sign, device=logits.device, dtype=logits.dtype)
