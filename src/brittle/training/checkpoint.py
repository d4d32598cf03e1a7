"""Where an interrupted training goes on: everything at the end of an epoch, in one file."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from brittle import files
from brittle.errors import UsageError
from brittle.zoo.folder import load_tensors, write_tensors

log = logging.getLogger(__name__)
FILE, STATE = "checkpoint.safetensors", "state"


@dataclass
class TrainingState:
    """How far a training is: epochs done, the best accuracy, epochs since, and the rate by now.

    The rate is halved after an epoch without gain; whether it counts is the optimizer's matter.
    """

    epoch: int = 0
    best: float = -1.0
    since: int = 0
    best_epoch: int = 0
    history: list[tuple[float, float]] = field(default_factory=list)
    rate: float = 0.0

    def ended(self, loss: float, right: float) -> bool:
        """Note an epoch that has ended; says whether it was the best so far."""
        self.epoch += 1
        self.since += 1
        self.history.append((loss, right))
        gained = right > self.best
        if gained:
            self.best, self.best_epoch, self.since = right, self.epoch, 0
        else:
            self.rate /= 2
        return gained


def save(folder: Path, course: TrainingState, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write the checkpoint so that at any moment either the old or the new one is whole."""
    path = folder / FILE
    write_tensors(files.unfinished(path), tensors, {STATE: json.dumps(asdict(course))})
    files.replace_file(path)


def load(folder: Path) -> tuple[TrainingState, dict[str, NDArray[Any]]] | None:
    """Read the checkpoint, or None where there is none that can be read."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        tensors = load_tensors(path)
        return TrainingState(**json.loads(_metadata(path)[STATE])), tensors
    except (UsageError, ValueError, KeyError, TypeError) as error:
        log.warning("The checkpoint %s cannot be read (%s); training starts anew.", path, error)
        return None


def remove(folder: Path) -> None:
    """Take the checkpoint away, and one that was being written."""
    for path in (folder / FILE, files.unfinished(folder / FILE)):
        path.unlink(missing_ok=True)


def _metadata(path: Path) -> dict[str, str]:
    from safetensors import safe_open

    with safe_open(str(path), framework="numpy") as file:
        return dict(file.metadata() or {})
