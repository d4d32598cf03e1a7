"""How weights follow their gradients: the optimizer, its rate, and its state on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from brittle.training.checkpoint import TrainingState
from brittle.zoo.names.settings import FineTuningSettings, NetworkSettings

STATE = "adam"  # the first part of its tensors' names in a checkpoint
Weights = Mapping[str, nn.Parameter]


def make_optimizer(
    settings: NetworkSettings | FineTuningSettings, weights: Weights
) -> torch.optim.Optimizer:
    """Make the optimizer that the settings name; plain SGD has no momentum, and so no state."""
    if _is_sgd(settings):
        return torch.optim.SGD(
            weights.values(), lr=settings.rate, weight_decay=settings.decay, foreach=False
        )
    return torch.optim.AdamW(
        weights.values(), lr=settings.rate, weight_decay=settings.decay, foreach=False
    )


def learning_rate(
    settings: NetworkSettings | FineTuningSettings, course: TrainingState, done: float
) -> float:
    """Give the rate of a step, `done` being the share of all steps before it."""
    if _is_sgd(settings):
        return course.rate
    return settings.rate * schedule(done, settings.warmup)


def schedule(done: float, warmup: float) -> float:
    """Give the share of the rate at this point: up over the warm-up, then down to zero."""
    return done / warmup if done < warmup else (1 - done) / (1 - warmup)


def clip_gradients(
    settings: NetworkSettings | FineTuningSettings, weights: Iterable[nn.Parameter]
) -> None:
    """Shorten the gradient of all weights together to the norm the settings allow."""
    if isinstance(settings, NetworkSettings) and settings.clip:
        torch.nn.utils.clip_grad_norm_(weights, settings.clip)


def state_of(optimizer: torch.optim.Optimizer, weights: Weights) -> dict[str, Tensor]:
    """Give the optimizer's state as named tensors."""
    return {
        f"{STATE}.{name}:{part}": value
        for name, p in weights.items()
        for part, value in optimizer.state[p].items()
        if isinstance(value, Tensor)
    }


def restore_state(
    optimizer: torch.optim.Optimizer, weights: Weights, kept: Mapping[str, Tensor]
) -> None:
    """Put the optimizer where `state_of` found it."""
    for name, p in weights.items():
        parts = [key for key in kept if key.startswith(f"{STATE}.{name}:")]
        state = {key.rpartition(":")[2]: kept[key] for key in parts}
        optimizer.state[p] = {k: v if k == "step" else v.to(p.device) for k, v in state.items()}


def _is_sgd(settings: NetworkSettings | FineTuningSettings) -> bool:
    return isinstance(settings, NetworkSettings) and settings.optimizer == "sgd"
