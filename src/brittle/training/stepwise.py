"""Training step by step, with checkpoints between steps, and its optimizer. Needs torch.

The optimizer of a training, its learning rate, and its state in a checkpoint. A training in steps,
with checkpoints between them: of a GAN on pictures, and of an ARAE.

What a step draws depends on the seed and the number of the step alone, so that a resumed training
ends with the same weights as an undisturbed one. At a checkpoint the training is judged: good
weights are kept, and a generator that has collapsed may end it. This file needs torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.training import checkpoint
from brittle.training.checkpoint import StepState, TrainingState
from brittle.zoo.names.settings import TrainedByEpochs

OPTIMIZER_STATE = "adam"  # the first part of its tensors' names in a checkpoint
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
        f"{OPTIMIZER_STATE}.{name}:{part}": value
        for name, p in weights.items()
        for part, value in optimizer.state[p].items()
        if isinstance(value, Tensor)
    }


def restore_state(
    optimizer: torch.optim.Optimizer, weights: Weights, tensors: Mapping[str, Tensor]
) -> None:
    """Restore the optimizer's state from tensors that `state_of` returned."""
    for name, p in weights.items():
        prefix = f"{OPTIMIZER_STATE}.{name}:"
        parts = {
            key.removeprefix(prefix): t for key, t in tensors.items() if key.startswith(prefix)
        }
        # AdamW keeps its step count on the CPU.
        optimizer.state[p] = {k: t if k == "step" else t.to(p.device) for k, t in parts.items()}


def _is_sgd(settings: TrainedByEpochs) -> bool:
    return settings.optimizer == "sgd"


Losses = dict[str, float]
"""By name; if there is only one loss, it has no name."""
NOW, GOOD = "now.", "good."
FORMER_GOOD = "best."  # in checkpoints of ARAEs that were written by earlier versions


class Stepwise(Protocol):
    """What is trained in steps; `good` are the weights kept at a checkpoint."""

    state: StepState
    good: dict[str, Tensor]

    @property
    def network(self) -> nn.Module: ...

    @property
    def optimized(self) -> Mapping[str, tuple[torch.optim.Optimizer, Mapping[str, nn.Parameter]]]:
        """Return the optimizers that have a state, with the weights that they move."""
        ...

    @property
    def checkpoints(self) -> Sequence[int]:
        """Return the steps after which there is a checkpoint, the last step of all included."""
        ...

    def make_state(self, **stored: Any) -> StepState:
        """Build the state from the fields of a checkpoint."""
        ...

    def step(self) -> Losses:
        """Make the next step; return its losses."""
        ...


@dataclass(frozen=True)
class Judgement:
    """What is found at a checkpoint: whether to keep its weights, and whether to end there."""

    is_good: bool
    ends: bool = False


@dataclass(frozen=True)
class Watch:
    """What is done at checkpoints: the weights are judged, then written, then reported.

    `judge` and `report` take the mean losses since the last checkpoint. `report_between` is called
    `reports` times between two checkpoints, with the mean losses so far.
    """

    judge: Callable[[Losses], Judgement] = lambda losses: Judgement(is_good=True)
    report: Callable[[Losses], None] = lambda losses: None
    report_between: Callable[[Losses], None] = lambda losses: None
    reports: int = 0


def run_steps(training: Stepwise, folder: Path, watch: Watch) -> None:
    """Make all steps that are not done; ArithmeticError if a loss or a weight is no number."""
    state = training.state
    for first, last in _parts(training):
        if state.ended:
            return
        losses = _run_part(training, first, last, watch)
        if not all(weight.isfinite().all() for weight in training.network.parameters()):
            raise ArithmeticError(f"some weights are NaN or infinite after step {state.step}")
        judged = watch.judge(losses)
        if judged.is_good:
            state.good_step, training.good = state.step, copy_weights(training.network)
        state.ended = judged.ends
        _save(training, folder)
        watch.report(losses)


def resume(training: Stepwise, folder: Path) -> bool:
    """Restore weights, optimizers and state from the checkpoint; tell whether there was one."""
    stored = checkpoint.load(folder, training.make_state)
    if stored is None:
        return False
    training.state, arrays = stored
    device = next(training.network.parameters()).device
    tensors = {name: torch.from_numpy(array.copy()).to(device) for name, array in arrays.items()}
    training.network.load_state_dict(_part(tensors, NOW))
    training.good = _part(tensors, GOOD) or _part(tensors, FORMER_GOOD)
    for optimizer, weights in training.optimized.values():
        restore_state(optimizer, weights, tensors)
    return True


def copy_weights(network: nn.Module) -> dict[str, Tensor]:
    """Copy the weights of a network."""
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}


def _parts(training: Stepwise) -> Iterator[tuple[int, int]]:
    """Yield the first step that is to be made before each checkpoint, and the one after the last.

    A checkpoint may come from a version with other checkpoints.
    """
    first = training.state.step
    for last in training.checkpoints:
        if last > first:
            yield first, last
            first = last


def _run_part(training: Stepwise, first: int, last: int, watch: Watch) -> Losses:
    """Make the steps up to a checkpoint; return the mean losses."""
    state, sums = training.state, Losses()
    report_every = max(1, (last - first) // watch.reports) if watch.reports else 0
    for count in range(1, last - first + 1):
        for name, value in training.step().items():
            if not math.isfinite(value):
                whose = f"the loss of the {name}" if name else "the loss"
                raise ArithmeticError(f"{whose} is {value} in step {state.step + 1}")
            sums[name] = sums.get(name, 0.0) + value
        state.step += 1
        if report_every and count % report_every == 0:
            watch.report_between({name: total / count for name, total in sums.items()})
    return {name: total / (last - first) for name, total in sums.items()}


def _save(training: Stepwise, folder: Path) -> None:
    tensors = {NOW + name: tensor for name, tensor in training.network.state_dict().items()}
    tensors |= {GOOD + name: tensor for name, tensor in training.good.items()}
    for optimizer, weights in training.optimized.values():
        tensors |= state_of(optimizer, weights)
    arrays: dict[str, NDArray[Any]] = {
        name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()
    }
    checkpoint.save(folder, training.state, arrays)


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names begin with a prefix, without it."""
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
