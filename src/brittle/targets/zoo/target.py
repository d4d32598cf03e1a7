"""Targets from our own zoo: `zoo:NAME@DATA#SEED`, trained when they are not there yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.moves import EditRequest, Gradient, Level, ScoredMoves
from brittle.targets.protocols import Scores
from brittle.targets.scores import softmax
from brittle.targets.transformers import classifier as transformers
from brittle.targets.transformers.vocabulary import whole_words
from brittle.text import Text
from brittle.training import TrainingProgress, find, train
from brittle.training.adversarial.methods import is_by_attack
from brittle.training.progress import silent
from brittle.zoo.folder import Card, load_card, load_card_checked
from brittle.zoo.model import Model, open_model
from brittle.zoo.names.grid import designs
from brittle.zoo.names.parsing import find_listed, parse

if TYPE_CHECKING:
    from brittle.zoo.white_box import NetworkWhiteBox


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

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Give the words the model knows, as it has them."""
        model: Any = self.model
        if isinstance(model, TransformerModel):
            return tuple(whole_words(model.classifier.tokens)[0])
        # No word begins with a "<"; what does stands for padding and its like.
        return tuple(word for word in model.vocabulary.words if not word.startswith("<"))

    def close(self) -> None:
        self.model.close()


class WhiteBoxZooTarget(ZooTarget):
    """A network of the zoo, which also shows its inside."""

    def __init__(
        self, card: Card, model: Model, inside: NetworkWhiteBox | transformers.SequenceClassifier
    ) -> None:
        super().__init__(card, model)
        self.inside = inside

    def read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        """Give for every text the positions of the words that are read, in order."""
        return self.inside.read(items)

    def logits(self, items: Sequence[Text]) -> Scores:
        return self.inside.logits(items)

    def flips(self, aims: Sequence[EditRequest]) -> list[ScoredMoves]:
        return self.inside.flips(aims)

    def gradients(self, aims: Sequence[EditRequest]) -> list[Gradient]:
        return self.inside.gradients(aims)

    @property
    def layers(self) -> Sequence[str]:
        return self.inside.layers

    def embeddings(self, items: Sequence[Text], layer: str, level: Level = "words") -> list[Any]:
        return self.inside.embeddings(items, layer, level)

    def attention(self, items: Sequence[Text]) -> list[NDArray[np.float64]]:
        return self.inside.attention(items)


class TransformerModel:
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


def load(
    spec: str,
    *,
    device: str = "auto",
    size: str = "default",
    train: bool = True,
    progress: Callable[[TrainingProgress], None] | None = None,
    **options: Any,
) -> ZooTarget:
    """Load a model by `zoo:NAME@DATA#SEED`, training it first where it is not in the cache.

    Settings that are not the model's own stand behind a question mark, as in
    `zoo:NAME@DATA#SEED?hidden=32,size=paper`. `options` are those of training: text and label, the
    columns of a file. With `train=False` a model that is not trained yet is an error.
    """
    wanted = parse(spec, size)
    source, data, seed = wanted.source, wanted.data, wanted.seed
    options |= {"size": wanted.size, "changed": wanted.changed}
    folder = find_listed(wanted) or find(source, data, seed, **options)
    # What an attack is, and so how to train with it, is not known in this room.
    if folder is None and (not train or is_by_attack(source)):
        raise UsageError(
            f"The model {wanted.full_name!r} is not trained yet. Train it with: {wanted.command}"
        )
    if folder is None:
        folder = _train(source, data, seed, device=device, progress=progress or silent, **options)
    return load_folder(folder, device=device)


_train = train


def load_folder(path: str | os.PathLike[str], *, device: str = "auto") -> ZooTarget:
    """Load a model from a folder that training has written."""
    folder = Path(path)
    kind = load_card(folder).kind
    if kind == "transformer":
        card = load_card_checked(folder)
        classifier = transformers.load(str(folder), device=device)
        return WhiteBoxZooTarget(card, TransformerModel(classifier), classifier)
    card, model = open_model(folder, device)
    if kind != "network":
        return ZooTarget(card, model)
    from brittle.zoo.scoring import NetworkModel
    from brittle.zoo.white_box import NetworkWhiteBox  # these import torch

    assert isinstance(model, NetworkModel)
    return WhiteBoxZooTarget(card, model, NetworkWhiteBox(model, card.full_name))


def catalogue() -> list[tuple[str, str]]:
    """List the models that can be trained: name and description."""
    return [(design.name, design.about) for design in designs()]
