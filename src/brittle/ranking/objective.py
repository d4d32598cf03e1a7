"""The objective that a request wants to rise, as a function of the logits. This file needs torch.

`EditSpace` says what it is: ± log p or ± the logit of the class that the text should leave (−) or
reach (+).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from brittle import goals
from brittle.moves import EditRequest


def objective_gradient(scores: Tensor, requests: Sequence[EditRequest]) -> Tensor:
    """Compute the gradient of every request's objective along the logits (texts × classes).

    `scores` are probabilities p. Along the logits, log p of class c has the gradient [i = c] − p.
    For 1 − p the sum of the others is taken, so that nothing cancels where p is nearly 1.
    """
    device = scores.device
    aimed = [r.label if r.toward is None else r.toward for r in requests]
    column = torch.tensor(aimed, device=device)[:, None]
    log = torch.tensor([[r.space.objective == "loss"] for r in requests], device=device)
    sign = torch.tensor([[-1.0 if r.toward is None else 1.0] for r in requests], device=device)
    others = (scores * log).scatter(1, column, 0.0)
    own = torch.where(log, others.sum(dim=1, keepdim=True), 1.0)
    return (-others).scatter(1, column, own) * sign


def is_reached(scores: Sequence[float], request: EditRequest) -> bool:
    """Tell whether a text has left its class, or reached the one it should."""
    predicted = max(range(len(scores)), key=scores.__getitem__)
    return bool(goals.is_reached(predicted, request.label, request.toward))
