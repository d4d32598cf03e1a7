"""Targets from our own zoo: `zoo:NAME@DATA#SEED`, trained when they are not there yet."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from brittle.data.catalogue import CATALOGUE
from brittle.errors import UsageError
from brittle.targets import transformers
from brittle.targets.protocols import Scores
from brittle.targets.scores import softmax
from brittle.text import Text
from brittle.training import Progress, find, train, trained
from brittle.training.progress import silent
from brittle.zoo.folder import Card, read, read_card
from brittle.zoo.grid import design, designs
from brittle.zoo.model import Model, open_model

__all__ = ["ZooTarget", "catalogue", "load", "load_folder", "parse", "trained"]

PREFIX = "zoo:"


class ZooTarget:
    """A trained model of the zoo; its canonical keys are what the model reads, as bytes."""

    in_process = True

    def __init__(self, card: Card, model: Model) -> None:
        self.card = card
        self.model = model
        self.name = card.full_name
        self.fingerprint = card.fingerprint
        self.labels = card.labels
        self.parallel = model.parallel
        self.batch: int | None = getattr(model, "batch", None)

    def __repr__(self) -> str:
        return f"ZooTarget({self.name!r})"

    def canonical(self, items: Sequence[Text]) -> list[bytes]:
        """Encode the texts: texts of equal bytes are one and the same to the model."""
        return self.model.encode(items)

    def canonical_scores(self, keys: Sequence[bytes]) -> Scores:
        """Give the probabilities of texts encoded by `canonical`."""
        return softmax(self.canonical_logits(keys))

    def canonical_logits(self, keys: Sequence[bytes]) -> Scores:
        """Give the logits of texts encoded by `canonical`."""
        if not keys:
            return np.zeros((0, len(self.labels)))
        return np.asarray(self.model.logits(keys), dtype=np.float64)

    def scores(self, items: Sequence[Text]) -> Scores:
        return self.canonical_scores(self.canonical(items))

    def logits(self, items: Sequence[Text]) -> Scores:
        """Give the scores before the softmax."""
        return self.canonical_logits(self.canonical(items))

    def close(self) -> None:
        self.model.close()


class Encoder:
    """A fine-tuned transformers model, read as any transformers target is."""

    def __init__(self, classifier: transformers.SequenceClassifier) -> None:
        self.classifier = classifier
        self.parallel = classifier.parallel

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        return self.classifier.canonical(items)

    def logits(self, keys: Sequence[bytes]) -> Scores:
        """Give log-probabilities: the logits, but for one number added to a whole row."""
        with np.errstate(divide="ignore"):
            return np.log(self.classifier.canonical_scores(keys))

    def close(self) -> None:
        self.classifier.close()


def parse(spec: str) -> tuple[str, str, int]:
    """Part `zoo:NAME@DATA#SEED` into its three; the seed is 0 unless given.

    >>> parse("zoo:LSTM-W-Random-1@mr")
    ('LSTM-W-Random-1', 'mr', 0)
    """
    body = spec.removeprefix(PREFIX)
    name, at, rest = body.partition("@")
    match = re.fullmatch(r"(.+?)(?:#(\d+))?", rest)
    if not at or not match:
        raise UsageError(
            f"Got the model {spec!r}. Expected zoo:NAME@DATA or zoo:NAME@DATA#SEED, such as "
            "zoo:LSTM-W-Random-1@mr#0; brittle list models shows the names."
        )
    return design(name).name, match[1], int(match[2] or 0)


def load(
    spec: str,
    *,
    device: str = "auto",
    train: bool = True,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> ZooTarget:
    """Load a model by `zoo:NAME@DATA#SEED`, training it first where it is not in the cache.

    `options` are those of training: size, and text and label, the columns of a file. With
    `train=False` a model that is not trained yet is an error.
    """
    name, data, seed = parse(spec)
    folder = _by_short_name(name, data, seed) or find(name, data, seed, **options)
    if folder is None and not train:
        raise UsageError(
            f"The model {name!r} is not trained yet on {data!r} with the seed {seed}. Train it "
            f"with: brittle train {name} --data {data} --seed {seed}"
        )
    if folder is None:
        folder = _train(name, data, seed, device=device, progress=progress or silent, **options)
    return load_folder(folder, device=device)


_train = train


def _by_short_name(name: str, data: str, seed: int) -> Path | None:
    """Find a model trained on a file that is now named by its stem alone, as it is listed."""
    if data in CATALOGUE or data.startswith("hf:") or Path(data).exists():
        return None
    found = [t.path for t in trained() if (t.name, t.data, t.seed) == (name, data, seed)]
    if len(found) > 1:
        raise UsageError(
            f"Several models are named {name}@{data}#{seed}: they were trained on different data "
            f"or sizes. Name the folder of one: {', '.join(map(str, found))}."
        )
    return found[0] if found else None


def load_folder(path: str | os.PathLike[str], *, device: str = "auto") -> ZooTarget:
    """Load a model from a folder that training has written."""
    folder = Path(path)
    if read_card(folder).kind == "transformer":
        card = read(folder)
        return ZooTarget(card, Encoder(transformers.load(str(folder), device=device)))
    return ZooTarget(*open_model(folder, device))


def catalogue() -> list[tuple[str, str]]:
    """List the models that can be trained: name and description."""
    return [(design.name, design.about) for design in designs()]
