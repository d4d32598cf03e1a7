"""Progress reports of a training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingProgress:
    """The progress of a training; `dev_accuracy` is known only at the end of an epoch.

    `loss` is the mean since the epoch began. `measures` describes an epoch that has no accuracy; a
    training without epochs has 0 of them, and says so how far it is.
    """

    model: str
    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    dev_accuracy: float | None = None
    best: bool = False
    measures: str = ""

    def __str__(self) -> str:
        if not self.epochs:
            return f"{self.model}: {self.measures}"
        line = f"{self.model}: epoch {self.epoch}/{self.epochs}"
        if self.dev_accuracy is None:
            return f"{line}, step {self.step}/{self.steps}, loss {self.loss:.3f}"
        mark = " (best)" if self.best else ""
        accuracy = f"loss {self.loss:.3f}, dev accuracy {self.dev_accuracy:.3f}"
        return f"{line}, {self.measures or accuracy}{mark}"


def end_of_epoch(
    model: str,
    epoch: int,
    epochs: int,
    loss: float,
    dev_accuracy: float,
    is_best: bool,
    measures: str = "",
) -> TrainingProgress:
    """Report an epoch that has ended."""
    return TrainingProgress(model, epoch, epochs, 1, 1, loss, dev_accuracy, is_best, measures)


def after_step(
    model: str, step: int, steps: int, loss: float, line: str, is_best: bool = False
) -> TrainingProgress:
    """Report a training without epochs, in a line of its own words."""
    return TrainingProgress(model, 0, 0, step, steps, loss, None, is_best, line)


Report = Callable[[TrainingProgress], None]


def silent(progress: TrainingProgress) -> None:
    """Ignore a report."""
