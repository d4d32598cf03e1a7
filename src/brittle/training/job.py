"""One training: what is asked of a fitting function, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from brittle.errors import BrittleError, UsageError
from brittle.training.adversarial.methods import Hardening
from brittle.training.progress import Progress, Report, silent
from brittle.training.splits import Side
from brittle.zoo.model import Model
from brittle.zoo.names.grid import Design
from brittle.zoo.names.settings import Settings
from brittle.zoo.tokenizers.words import Vocabulary

ROWS = 256


@dataclass(frozen=True)
class Job:
    """A model to fit; `folder` takes its weights and, until it is done, its checkpoint."""

    name: str
    design: Design
    settings: Settings
    seed: int
    labels: tuple[str, ...]
    fields: tuple[str, ...]
    train: Side
    dev: Side
    folder: Path
    device: str = "auto"
    report: Report = silent
    data: str = ""
    hardening: Hardening | None = None

    def tell(
        self,
        epoch: int,
        epochs: int,
        loss: float,
        step: int = 1,
        steps: int = 1,
        accuracy: float | None = None,
        best: bool = False,
    ) -> None:
        """Report progress."""
        self.report(Progress(self.name, epoch, epochs, step, steps, loss, accuracy, best))


@dataclass(frozen=True)
class Fitted:
    """How a training went: the accuracy of the weights that were kept, and the epochs run."""

    dev_accuracy: float
    epochs: int


class Diverged(BrittleError):
    """The loss is no number any more; `fitted` tells of the weights kept, if any."""

    def __init__(self, message: str, fitted: Fitted | None) -> None:
        super().__init__(message)
        self.fitted = fitted


def known_words(job: Job, *, cap: int | None = None, min_count: int = 1) -> Vocabulary:
    """Collect the words of the train side; to know none at all is an error."""
    pairs = len(job.fields) > 1 and job.design.kind != "linear"
    found = Vocabulary.of(job.train.texts, cap=cap, min_count=min_count, pairs=pairs)
    if len(found) == len(Vocabulary.of((), pairs=pairs)):
        raise UsageError(
            f"No word occurs {min_count} times or more on the train side of {job.name}: there is "
            "nothing to learn from. Check the text column (--text), or train on more data."
        )
    return found


def accuracy(model: Model, side: Side) -> float:
    """Give the share of texts whose highest score is at their label."""
    keys = model.encode(side.texts)
    order = sorted(range(len(keys)), key=lambda i: len(keys[i]))
    right = 0
    for start in range(0, len(order), ROWS):
        rows = order[start : start + ROWS]
        guess = np.argmax(model.logits([keys[i] for i in rows]), axis=1)
        right += sum(int(side.label[i] == g) for i, g in zip(rows, guess))
    return right / len(side)
