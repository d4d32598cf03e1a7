"""Epochs of gradient descent with early stopping and checkpoints; a lost loss ends the training.

Every epoch has its own seed, so that a resumed training ends with the same weights as an
undisturbed one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Protocol

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.training import checkpoint
from brittle.training.checkpoint import TrainingState
from brittle.training.job import Diverged, Fitted, Report, TrainingProgress, end_of_epoch
from brittle.training.stepwise import (
    clip_gradients,
    learning_rate,
    make_optimizer,
    restore_state,
    state_of,
)
from brittle.zoo.names.settings import TrainedByEpochs
from brittle.zoo.restoring import ThreadUse

REPORTS_PER_EPOCH = 20
BATCHES_PER_POOL = 20  # shuffled batches that are sorted by length together


class EpochsJob(Protocol):
    """What is needed of a job to run its epochs."""

    @property
    def name(self) -> str: ...

    @property
    def seed(self) -> int: ...

    @property
    def folder(self) -> Path: ...

    @property
    def report(self) -> Report: ...


@dataclass(frozen=True)
class Trainable:
    """A network, and the functions that prepare its epochs and compute its loss and accuracy.

    `prepare` prepares the texts of an epoch and returns their lengths. `loss` may have run a part
    of its backward pass when it returns. The first `clean_epochs` epochs only prepare the others:
    their weights are never the best. A network that has no accuracy has another measure in its
    place, from 0 up; `describe` formats it, with the mean loss of the epoch.
    """

    network: nn.Module
    settings: TrainedByEpochs
    prepare: Callable[[int], list[int]]
    loss: Callable[[list[int]], Tensor]
    accuracy: Callable[[], float]
    clean_epochs: int = 0
    describe: Callable[[float, float], str] | None = None


def fit_and_save(job: EpochsJob, trainable: Trainable, save: Callable[[Path], None]) -> Fitted:
    """Train, then save the best weights to the job's folder, also if the training diverged."""
    try:
        fitted = run_epochs(job, trainable)
    except Diverged as error:
        if error.fitted:
            save(job.folder)
        raise
    save(job.folder)
    return fitted


def run_epochs(job: EpochsJob, trainable: Trainable) -> Fitted:
    """Train until the epochs are over or the dev accuracy no longer rises; keep the best weights.

    If the loss is not a number, restore the best weights so far and raise `Diverged`.
    """
    settings = trainable.settings
    weights = {n: p for n, p in trainable.network.named_parameters() if p.requires_grad}
    optimizer = make_optimizer(settings, weights)
    state, best = _resume(job.folder, weights, optimizer, settings.learning_rate)
    while state.epoch < settings.epochs and (
        state.since < settings.patience or state.epoch <= trainable.clean_epochs
    ):
        try:
            loss = _run_epoch(job, trainable, optimizer, state)
        except ArithmeticError as error:
            _restore(weights, best)
            fitted = Fitted(state.best, state.best_epoch) if best else None
            raise Diverged(f"The training of {job.name} stopped: {error}.", fitted) from error
        accuracy = trainable.accuracy()
        if state.epoch == trainable.clean_epochs:
            state.best, state.since = -1.0, 0
        if state.end_epoch(loss, accuracy):
            best = {name: p.detach().clone() for name, p in weights.items()}
        checkpoint.save(job.folder, state, _tensors(weights, best, optimizer))
        is_best, epochs = state.since == 0, settings.epochs
        measures = trainable.describe(loss, accuracy) if trainable.describe else ""
        job.report(end_of_epoch(job.name, state.epoch, epochs, loss, accuracy, is_best, measures))
    _restore(weights, best)
    return Fitted(state.best, state.epoch)


@contextmanager
def seeded(seed: int, count: int) -> Iterator[None]:
    """Use this seed and this number of threads, then restore those of the caller."""
    with ThreadUse(count), torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def batches(lengths: list[int], size: int, random: Random) -> list[list[int]]:
    """Divide shuffled examples into batches of similar length, in random order."""
    order = list(range(len(lengths)))
    random.shuffle(order)
    pool_size = BATCHES_PER_POOL * size
    divided = []
    for start in range(0, len(order), pool_size):
        pool = sorted(order[start : start + pool_size], key=lengths.__getitem__)
        divided += [pool[i : i + size] for i in range(0, len(pool), size)]
    random.shuffle(divided)
    return divided


def batches_by_length(lengths: list[int], max_total: int, random: Random) -> list[list[int]]:
    """Divide shuffled examples into batches of similar length, in random order.

    A batch has as many examples as `max_total` allows for, each as long as its longest one.
    """
    order = list(range(len(lengths)))
    random.shuffle(order)
    divided: list[list[int]] = []
    for i in sorted(order, key=lengths.__getitem__):
        if not divided or lengths[i] * (len(divided[-1]) + 1) > max_total:
            divided.append([])
        divided[-1].append(i)
    random.shuffle(divided)
    return divided


def _run_epoch(
    job: EpochsJob, trainable: Trainable, optimizer: torch.optim.Optimizer, state: TrainingState
) -> float:
    """Run one epoch and return its mean loss; raise ArithmeticError if that is not a number."""
    settings, epoch = trainable.settings, state.epoch
    weights = [p for group in optimizer.param_groups for p in group["params"]]
    lengths = trainable.prepare(epoch)
    random = Random(f"{job.seed}:{epoch}")
    torch.manual_seed(random.getrandbits(63))
    trainable.network.train()
    if settings.batch_subwords:
        rows_of_batches = batches_by_length(lengths, settings.batch_subwords, random)
    else:
        rows_of_batches = batches(lengths, settings.batch_size, random)
    steps = len(rows_of_batches)
    total = 0.0
    report_every = max(1, steps // REPORTS_PER_EPOCH)
    for n, rows in enumerate(rows_of_batches, 1):
        done = (epoch * steps + n - 1) / (settings.epochs * steps)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(settings, state, done)
        optimizer.zero_grad()
        loss = trainable.loss(rows)
        loss.backward()  # type: ignore[no-untyped-call]
        value = loss.item()
        if not math.isfinite(value):
            raise ArithmeticError(f"the loss is {value} in epoch {epoch + 1}, step {n}")
        clip_gradients(settings, weights)
        optimizer.step()
        total += value
        if n % report_every == 0:
            job.report(TrainingProgress(job.name, epoch + 1, settings.epochs, n, steps, total / n))
    if not all(torch.isfinite(p).all() for p in weights):
        raise ArithmeticError(f"some weights are NaN or infinite after epoch {epoch + 1}")
    trainable.network.eval()
    return total / steps


def _restore(weights: dict[str, nn.Parameter], stored: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, tensor in stored.items():
            weights[name].copy_(tensor)


def _tensors(
    weights: dict[str, nn.Parameter], best: dict[str, Tensor], optimizer: torch.optim.Optimizer
) -> dict[str, NDArray[Any]]:
    tensors = {f"now.{name}": p.detach() for name, p in weights.items()}
    tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
    tensors |= state_of(optimizer, weights)
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}


def _resume(
    folder: Path,
    weights: dict[str, nn.Parameter],
    optimizer: torch.optim.Optimizer,
    rate: float,
) -> tuple[TrainingState, dict[str, Tensor]]:
    """Restore weights and optimizer from the checkpoint, if any; return state and best weights."""
    stored = checkpoint.load(folder, TrainingState)
    if stored is None:
        return TrainingState(rate=rate), {}
    state, arrays = stored
    tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    _restore(weights, {name: tensors[f"now.{name}"] for name in weights})
    restore_state(optimizer, weights, tensors)
    return state, {name: tensors[f"best.{name}"].to(p.device) for name, p in weights.items()}
