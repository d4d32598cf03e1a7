"""Checkpoints: the state at some moment, in one file, from which training resumes."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.safety import files
from brittle.zoo.folder import load_tensors, write_tensors

log = logging.getLogger(__name__)
FILE, STATE = "checkpoint.safetensors", "state"
S = TypeVar("S")


@dataclass
class TrainingState:
    """The state of a training: epochs done, the best accuracy, epochs since then, and the rate.

    The rate is halved after an epoch without gain; only SGD uses it.
    """

    epoch: int = 0
    best: float = -1.0
    since: int = 0
    best_epoch: int = 0
    history: list[tuple[float, float]] = field(default_factory=list)
    rate: float = 0.0

    def end_epoch(self, loss: float, accuracy: float) -> bool:
        """Record an epoch that has ended; tell whether it is the best so far."""
        self.epoch += 1
        self.since += 1
        self.history.append((loss, accuracy))
        is_best = accuracy > self.best
        if is_best:
            self.best, self.best_epoch, self.since = accuracy, self.epoch, 0
        else:
            self.rate /= 2
        return is_best


@dataclass
class StepState:
    """The state of a training without epochs: the steps done, and those of the weights kept.

    `best` is the measure of the weights kept, where they have one. A training that has `ended`
    early makes no more steps when it is resumed.
    """

    step: int = 0
    good_step: int = 0
    best: float = -1.0
    ended: bool = False


def save(
    folder: Path, state: TrainingState | StepState, tensors: Mapping[str, NDArray[Any]]
) -> None:
    """Write the checkpoint; at any moment either the old or the new one is complete on disk."""
    with files.replacing(folder / FILE) as new:
        write_tensors(new, tensors, {STATE: json.dumps(asdict(state))})


def load(folder: Path, make: Callable[..., S]) -> tuple[S, dict[str, NDArray[Any]]] | None:
    """Load the checkpoint; return None if there is none or it cannot be read.

    `make` builds the state from its stored fields.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    from safetensors import safe_open

    try:
        tensors = load_tensors(path)
        with safe_open(str(path), framework="numpy") as file:
            return make(**json.loads((file.metadata() or {})[STATE])), tensors
    except (UsageError, *files.DAMAGED) as error:
        log.warning(
            "The checkpoint %s cannot be read (%s); training starts from the beginning.",
            path,
            error,
        )
        return None


def remove(folder: Path) -> None:
    """Remove the checkpoint, and one that is only partly written."""
    files.remove(folder / FILE)
