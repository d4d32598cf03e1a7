"""One training: what is asked of a fitting function, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from brittle.errors import BrittleError, UsageError
from brittle.training.adversarial.methods import AdversarialTraining
from brittle.training.progress import Report, TrainingProgress, silent
from brittle.training.splits import LabelledTexts
from brittle.zoo.model import Model
from brittle.zoo.names.grid import Design
from brittle.zoo.names.settings import ModelSettings
from brittle.zoo.tokenizers.words import WordTokenizer

TEXTS_PER_PASS = 256


@dataclass(frozen=True)
class TrainingJob:
    """A model to fit; `folder` takes its weights and, until it is done, its checkpoint."""

    name: str
    design: Design
    settings: ModelSettings
    seed: int
    labels: tuple[str, ...]
    fields: tuple[str, ...]
    train: LabelledTexts
    dev: LabelledTexts
    folder: Path
    device: str = "auto"
    report: Report = silent
    data: str = ""
    hardening: AdversarialTraining | None = None

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
        self.report(TrainingProgress(self.name, epoch, epochs, step, steps, loss, accuracy, best))


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


def build_vocabulary(
    job: TrainingJob, *, cap: int | None = None, min_count: int = 1
) -> WordTokenizer:
    """Collect the words of the train side; to know none at all is an error."""
    pairs = len(job.fields) > 1 and job.design.kind != "linear"
    found = WordTokenizer.of(job.train.texts, cap=cap, min_count=min_count, pairs=pairs)
    if len(found) == len(WordTokenizer.of((), pairs=pairs)):
        raise UsageError(
            f"No word occurs {min_count} times or more on the train side of {job.name}: there is "
            "nothing to learn from. Check the text column (--text), or train on more data."
        )
    return found


def accuracy(model: Model, side: LabelledTexts) -> float:
    """Give the share of texts whose highest score is at their label."""
    keys = model.encode(side.texts)
    order = sorted(range(len(keys)), key=lambda i: len(keys[i]))
    right = 0
    for start in range(0, len(order), TEXTS_PER_PASS):
        rows = order[start : start + TEXTS_PER_PASS]
        guess = np.argmax(model.logits([keys[i] for i in rows]), axis=1)
        right += sum(int(side.label[i] == g) for i, g in zip(rows, guess))
    return right / len(side)
