"""One training: the arguments of a fitting function, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from brittle.errors import BrittleError, UsageError
from brittle.text import Text
from brittle.training.adversarial.methods import AdversarialTraining
from brittle.training.progress import Report, silent
from brittle.training.splits import LabelledTexts
from brittle.zoo.model import Model
from brittle.zoo.names.grid import Design
from brittle.zoo.names.settings import ModelSettings
from brittle.zoo.tokenizers.words import WordTokenizer

TEXTS_PER_PASS = 256


@dataclass(frozen=True)
class TrainingJob:
    """A model to fit; its weights go to `folder`, and its checkpoint until it is trained.

    `variants` are texts by edits of a level, in groups of one text and level: the number of the
    text in `train`, and its variants.
    """

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
    method: AdversarialTraining | None = None
    variants: tuple[tuple[int, tuple[Text, ...]], ...] = ()


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


def build_vocabulary(
    job: TrainingJob, *, cap: int | None = None, min_count: int = 1
) -> WordTokenizer:
    """Build the vocabulary of the train split and its variants; an empty one is an error."""
    sides = "pair" in job.design.parts
    if sides and len(job.fields) != 2:
        raise UsageError(
            f"{job.design.name} reads the two sides of a pair, but the data has {len(job.fields)} "
            f"fields ({', '.join(job.fields)}). Name two columns: --text premise,hypothesis."
        )
    pairs = len(job.fields) > 1 and job.design.family.separates_pairs and not sides
    more = (text for _, group in job.variants for text in group)
    vocabulary = WordTokenizer.of(
        job.train.texts, cap=cap, min_count=min_count, pairs=pairs, more=more
    )
    if len(vocabulary) == len(WordTokenizer.of((), pairs=pairs)):
        raise UsageError(
            f"No word occurs {min_count} times or more in the train split of {job.name}: there is "
            "nothing to learn from. Check the text column (--text), or train on more data."
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
