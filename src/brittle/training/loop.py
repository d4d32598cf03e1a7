"""Epochs of gradient descent: early stopping, checkpoints, and a stop where the loss is lost.

Every epoch begins from a seed of its own, so that a training which goes on after an interruption
ends with the weights an undisturbed one has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.training import checkpoint
from brittle.training.checkpoint import TrainingState
from brittle.training.job import Diverged, Fitted, TrainingJob
from brittle.training.optimizers import (
    clip_gradients,
    learning_rate,
    make_optimizer,
    restore_state,
    state_of,
)
from brittle.zoo.device import threads
from brittle.zoo.names.settings import FineTuningSettings, NetworkSettings

REPORTS_PER_EPOCH = 20  # reports within an epoch


@dataclass(frozen=True)
class Trainable:
    """What is trained, and how its loss and its accuracy are found.

    `begin` makes the texts of an epoch ready and gives their lengths. `loss` may have gone back
    through part of itself when it returns. The first `plain` epochs only prepare the others: what
    was best in them does not count.
    """

    network: nn.Module
    settings: NetworkSettings | FineTuningSettings
    begin: Callable[[int], list[int]]
    loss: Callable[[list[int]], Tensor]
    accuracy: Callable[[], float]
    plain: int = 0


def run_epochs(job: TrainingJob, lesson: Trainable) -> Fitted:
    """Train until the epochs are over or the dev accuracy no longer rises; keep the best weights.

    On a loss that is no number the best weights so far are put back and `Diverged` is raised.
    """
    settings = lesson.settings
    weights = {n: p for n, p in lesson.network.named_parameters() if p.requires_grad}
    optimizer = make_optimizer(settings, weights)
    course, best = _resumed(job.folder, weights, optimizer, settings.rate)
    while course.epoch < settings.epochs and (
        course.since < settings.patience or course.epoch <= lesson.plain
    ):
        try:
            loss = _epoch(job, lesson, optimizer, course)
        except ArithmeticError as error:
            raise _diverged(job, course, weights, best, error) from error
        right = lesson.accuracy()
        if course.epoch == lesson.plain:
            course.best, course.since = -1.0, 0
        if course.ended(loss, right):
            best = {name: p.detach().clone() for name, p in weights.items()}
        checkpoint.save(job.folder, course, _tensors(weights, best, optimizer))
        job.tell(course.epoch, settings.epochs, loss, accuracy=right, best=course.since == 0)
    _put_back(weights, best)
    return Fitted(course.best, course.epoch)


@contextmanager
def seeded(seed: int, count: int) -> Iterator[None]:
    """Run with a seed and a number of threads of one's own; the caller's come back afterwards."""
    with threads(count), torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def batches(lengths: list[int], size: int, random: Random) -> list[list[int]]:
    """Part shuffled examples into batches of similar length, themselves in random order."""
    order = list(range(len(lengths)))
    random.shuffle(order)
    pool = 20 * size
    out = []
    for start in range(0, len(order), pool):
        near = sorted(order[start : start + pool], key=lengths.__getitem__)
        out += [near[i : i + size] for i in range(0, len(near), size)]
    random.shuffle(out)
    return out


def _epoch(
    job: TrainingJob, lesson: Trainable, optimizer: torch.optim.Optimizer, course: TrainingState
) -> float:
    settings, epoch = lesson.settings, course.epoch
    weights = [p for group in optimizer.param_groups for p in group["params"]]
    lengths = lesson.begin(epoch)
    random = Random(f"{job.seed}:{epoch}")
    torch.manual_seed(random.getrandbits(63))
    lesson.network.train()
    todo = batches(lengths, settings.batch, random)
    total, steps = 0.0, settings.epochs * len(todo)
    every = max(1, len(todo) // REPORTS_PER_EPOCH)
    for n, rows in enumerate(todo, 1):
        done = (epoch * len(todo) + n - 1) / steps
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(settings, course, done)
        optimizer.zero_grad()
        loss = lesson.loss(rows)
        loss.backward()  # type: ignore[no-untyped-call]
        value = loss.item()
        if not math.isfinite(value):
            raise ArithmeticError(f"the loss is {value} in epoch {epoch + 1}, step {n}")
        clip_gradients(settings, weights)
        optimizer.step()
        total += value
        if n % every == 0:
            job.tell(epoch + 1, settings.epochs, total / n, n, len(todo))
    if not all(torch.isfinite(p).all() for p in weights):
        raise ArithmeticError(f"some weights are no numbers after epoch {epoch + 1}")
    lesson.network.eval()
    return total / len(todo)


def _diverged(
    job: TrainingJob,
    course: TrainingState,
    weights: dict[str, nn.Parameter],
    best: dict[str, Tensor],
    error: ArithmeticError,
) -> Diverged:
    if best:
        _put_back(weights, best)
    fitted = Fitted(course.best, course.best_epoch) if best else None
    return Diverged(f"The training of {job.name} stopped: {error}.", fitted)


def _put_back(weights: dict[str, nn.Parameter], best: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, tensor in best.items():
            weights[name].copy_(tensor)


def _tensors(
    weights: dict[str, nn.Parameter], best: dict[str, Tensor], optimizer: torch.optim.Optimizer
) -> dict[str, NDArray[Any]]:
    out = {f"now.{name}": p.detach() for name, p in weights.items()}
    out |= {f"best.{name}": tensor for name, tensor in best.items()}
    out |= state_of(optimizer, weights)
    return {name: tensor.cpu().numpy() for name, tensor in out.items()}


def _resumed(
    folder: Path,
    weights: dict[str, nn.Parameter],
    optimizer: torch.optim.Optimizer,
    rate: float,
) -> tuple[TrainingState, dict[str, Tensor]]:
    """Put weights and optimizer where the checkpoint left them; gives the best weights too."""
    found = checkpoint.load(folder)
    if found is None:
        return TrainingState(rate=rate), {}
    course, tensors = found
    kept = {name: torch.from_numpy(array.copy()) for name, array in tensors.items()}
    _put_back(weights, {name: kept[f"now.{name}"] for name in weights})
    restore_state(optimizer, weights, kept)
    return course, {name: kept[f"best.{name}"].to(p.device) for name, p in weights.items()}
