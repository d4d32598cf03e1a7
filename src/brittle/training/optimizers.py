"""The optimizer of a training, its learning rate, and its state in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from brittle.training.checkpoint import TrainingState
from brittle.zoo.names.settings import TrainedByEpochs

STATE = "adam"  # the first part of its tensors' names in a checkpoint
Weights = Mapping[str, nn.Parameter]


def make_optimizer(settings: TrainedByEpochs, weights: Weights) -> torch.optim.Optimizer:
    """Build the optimizer that the settings name; SGD has no momentum, and therefore no state."""
    kind = torch.optim.SGD if _is_sgd(settings) else torch.optim.AdamW
    return kind(
        weights.values(),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        foreach=False,
    )


def learning_rate(settings: TrainedByEpochs, state: TrainingState, done: float) -> float:
    """Return the rate of a step; `done` is the share of all steps before it."""
    if _is_sgd(settings):
        return state.rate
    return settings.learning_rate * schedule(done, settings.warmup)


def schedule(done: float, warmup: float) -> float:
    """Return the factor of the rate: it rises to 1 over the warm-up, then falls to 0."""
    return done / warmup if done < warmup else (1 - done) / (1 - warmup)


def clip_gradients(settings: TrainedByEpochs, weights: Iterable[nn.Parameter]) -> None:
    """Clip the norm of the gradient of all weights together, if the settings say so."""
    if settings.max_grad_norm:
        torch.nn.utils.clip_grad_norm_(weights, settings.max_grad_norm)


def state_of(optimizer: torch.optim.Optimizer, weights: Weights) -> dict[str, Tensor]:
    """Return the optimizer's state as named tensors."""
    return {
        f"{STATE}.{name}:{part}": value
        for name, p in weights.items()
        for part, value in optimizer.state[p].items()
        if isinstance(value, Tensor)
    }


def restore_state(
    optimizer: torch.optim.Optimizer, weights: Weights, tensors: Mapping[str, Tensor]
) -> None:
    """Restore the optimizer's state from tensors that `state_of` returned."""
    for name, p in weights.items():
        prefix = f"{STATE}.{name}:"
        parts = {
            key.removeprefix(prefix): t for key, t in tensors.items() if key.startswith(prefix)
        }
        # AdamW keeps its step count on the CPU.
        optimizer.state[p] = {k: t if k == "step" else t.to(p.device) for k, t in parts.items()}


def _is_sgd(settings: TrainedByEpochs) -> bool:
    return settings.optimizer == "sgd"
