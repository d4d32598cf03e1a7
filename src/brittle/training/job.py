"""One training: its arguments, its progress, and its result.

Progress reports of a training. One training: the argument of every fitting function, its result,
and the card of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from brittle.errors import BrittleError, UsageError
from brittle.text import Text
from brittle.training.adversarial import methods
from brittle.training.adversarial.methods import AdversarialTraining
from brittle.training.plan import TrainingPlan
from brittle.training.splits import NO_TEXTS, LabelledTexts, TrainingSplits
from brittle.zoo.folder import Card
from brittle.zoo.model import Model
from brittle.zoo.names import grid
from brittle.zoo.names.grid import Design
from brittle.zoo.tokenizers import WordTokenizer


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

    @property
    def planned(self) -> int | None:
        """How many steps there are, where that is known."""
        return max(1, self.epochs) * self.steps or None

    @property
    def done(self) -> int:
        """How many steps are done."""
        steps = self.steps if self.dev_accuracy is not None else self.step
        return max(0, self.epoch - 1) * self.steps + steps

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


TEXTS_PER_PASS = 256


@dataclass(frozen=True)
class TrainingJob:
    """One training: the plan of a model, and where its weights, its checkpoint and its log go.

    The weights go to `folder`, and the checkpoint until it is trained. `added` are texts that the
    model learns with those of the train split. `variants` are texts by edits of a level, in groups
    of one text and level: the number of the text in `train`, and its variants.
    """

    plan: TrainingPlan
    folder: Path
    device: str = "auto"
    report: Report = silent
    added: LabelledTexts = NO_TEXTS
    variants: tuple[tuple[int, tuple[Text, ...]], ...] = ()

    @cached_property
    def name(self) -> str:
        return self.plan.name

    @property
    def design(self) -> Design:
        return self.plan.design

    @property
    def settings(self) -> Any:
        """Return the settings, which are those of the design's family."""
        return self.plan.settings

    @property
    def seed(self) -> int:
        return self.plan.seed

    @property
    def method(self) -> AdversarialTraining | None:
        return self.plan.method

    @property
    def splits(self) -> TrainingSplits:
        return self.plan.splits

    @property
    def labels(self) -> tuple[str, ...]:
        return self.splits.labels

    @cached_property
    def train(self) -> LabelledTexts:
        own = self.splits.train_texts
        return LabelledTexts(own.texts + self.added.texts, own.label + self.added.label)

    @property
    def dev(self) -> LabelledTexts:
        return self.splits.dev_texts


@dataclass(frozen=True)
class Fitted:
    """The result of a training: the dev accuracy of the saved weights, and the epochs run.

    `gradients` is what `check_gradients` measured on the dev split, for a network. `parts` are
    those of the design that the data decide, such as the shape of pictures. A language model has
    `perplexity` and no accuracy, a translator `dev_bleu`, a generator `measures`.
    """

    dev_accuracy: float | None
    epochs: int
    gradients: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)
    perplexity: Mapping[str, float] = field(default_factory=dict)
    dev_bleu: float | None = None
    measures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reached(self) -> str:
        """Describe how far the training came."""
        if "steps" in self.measures:
            return f"step {self.measures['steps']}"
        measured = ""
        if self.dev_accuracy is not None:
            measured = f", dev accuracy {self.dev_accuracy:.3f}"
        elif self.dev_bleu is not None:
            measured = f", dev BLEU {self.dev_bleu:.2f}"
        return f"epoch {self.epochs}{measured}"


class Diverged(BrittleError):
    """The loss is not a number any more; `fitted` describes the last good weights, if any."""

    def __init__(self, message: str, fitted: Fitted | None) -> None:
        super().__init__(message)
        self.fitted = fitted


def changed_result(fit: Callable[[], Fitted], change: Callable[[Fitted], Fitted]) -> Fitted:
    """Fit a model and change the result, also that of a training that diverged."""
    try:
        return change(fit())
    except Diverged as error:
        if error.fitted is not None:
            error.fitted = change(error.fitted)
        raise


def card_of(
    plan: TrainingPlan, fitted: Fitted, seconds: float = 0.0, versions: Mapping[str, str] = {}
) -> Card:
    """Build the card of a model from its plan and the result of its training."""
    splits = plan.splits
    return Card(
        name=plan.model,
        kind=plan.design.kind,
        data=splits.name,
        seed=plan.seed,
        size=plan.size,
        labels=splits.labels,
        fields=splits.fields,
        parts=dict(plan.design.parts) | dict(fitted.parts),
        settings=grid.as_json(plan.settings),
        dev_accuracy=fitted.dev_accuracy,
        epochs=fitted.epochs,
        examples=len(splits.train),
        data_fingerprint=splits.fingerprint,
        key=plan.key,
        seconds=round(seconds, 1),
        versions=versions,
        hardening={} if plan.method is None else methods.as_json(plan.method),
        changed=plan.changed,
        gradients=fitted.gradients,
        perplexity=fitted.perplexity,
        dev_bleu=fitted.dev_bleu,
        measures=fitted.measures,
    )


def build_vocabulary(
    job: TrainingJob, *, cap: int | None = None, min_count: int = 1
) -> WordTokenizer:
    """Build the vocabulary of the train split and its variants; an empty one is an error."""
    sides, fields = "pair" in job.design.parts, job.splits.fields
    if sides and len(fields) != 2:
        raise UsageError(
            f"{job.design.name} reads the two sides of a pair, but the data has {len(fields)} "
            f"fields ({', '.join(fields)}). Name two columns: --text premise,hypothesis."
        )
    pairs = len(fields) > 1 and job.design.family.separates_pairs and not sides
    more = (text for _, group in job.variants for text in group)
    vocabulary = WordTokenizer.of(
        job.train.texts, cap=cap, min_count=min_count, pairs=pairs, more=more
    )
    if len(vocabulary) == len(WordTokenizer.of((), pairs=pairs)):
        raise UsageError(
            f"No word occurs {min_count} times or more in the train split of {job.name}, "
            "so there is nothing to train on. Check the text column (--text), or train "
            "on more data."
        )
    return vocabulary


def accuracy(model: Model, split: LabelledTexts) -> float:
    """Compute the share of texts whose highest score is that of their label."""
    keys = model.encode(split.texts)
    order = sorted(range(len(keys)), key=lambda i: len(keys[i]))
    correct = 0
    for start in range(0, len(order), TEXTS_PER_PASS):
        rows = order[start : start + TEXTS_PER_PASS]
        predicted = np.argmax(model.logits([keys[i] for i in rows]), axis=1)
        correct += sum(int(split.label[i] == label) for i, label in zip(rows, predicted))
    return correct / len(split)
