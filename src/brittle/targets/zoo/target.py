"""Trained models of the zoo as targets."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from brittle.picture import PixelGradientRequest
from brittle.targets.protocols import Scores, ShowsInside, WhiteBox
from brittle.targets.scores import softmax
from brittle.targets.transformers import classifier as transformers
from brittle.targets.transformers.vocabulary import whole_words
from brittle.text import Text
from brittle.zoo.folder import Card, load_card, load_card_checked
from brittle.zoo.model import Model, open_model


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
        return self.model.encode(items)

    def canonical_scores(self, keys: Sequence[bytes]) -> Scores:
        return softmax(self.canonical_logits(keys))

    def canonical_logits(self, keys: Sequence[bytes]) -> Scores:
        if not keys:
            return np.zeros((0, len(self.labels)))
        return np.asarray(self.model.logits(keys), dtype=np.float64)

    def scores(self, items: Sequence[Text]) -> Scores:
        return self.canonical_scores(self.canonical(items))

    def logits(self, items: Sequence[Text]) -> Scores:
        return self.canonical_logits(self.canonical(items))

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        model: Any = self.model
        if isinstance(model, TransformerModel):
            return tuple(whole_words(model.classifier.tokenizer)[0])
        # No word begins with "<": these entries are special, such as padding.
        return tuple(word for word in model.vocabulary.words if not word.startswith("<"))

    def close(self) -> None:
        self.model.close()


class WhiteBoxZooTarget(ZooTarget, ShowsInside):
    """A network of the zoo with its white box; `build_inside` is called at first use."""

    def __init__(self, card: Card, model: Model, build_inside: Callable[[], WhiteBox]) -> None:
        super().__init__(card, model)
        self._build_inside = build_inside

    @cached_property
    def inside(self) -> WhiteBox:
        return self._build_inside()

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        model: Any = self.model  # not the white box: black-box attacks ask for this, too
        positions: list[Sequence[int]] = model.words_read(items)
        return positions


class PictureZooTarget(ZooTarget):
    """A model of the zoo that reads pictures."""

    item_kind = "picture"


class PictureNetworkTarget(PictureZooTarget):
    """A network of the zoo that reads pictures; it has gradients."""

    def gradients(self, requests: Sequence[PixelGradientRequest]) -> list[Any]:
        model: Any = self.model
        gradients: list[Any] = model.gradients(requests)
        return gradients


class TransformerModel:
    """A fine-tuned transformers model, behind the protocol of the zoo's models."""

    def __init__(self, classifier: transformers.SequenceClassifier) -> None:
        self.classifier = classifier
        self.parallel = classifier.parallel

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        return self.classifier.canonical(items)

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        return self.classifier.words_read(items)

    def logits(self, keys: Sequence[bytes]) -> Scores:
        return self.classifier.canonical_logits(keys)

    def close(self) -> None:
        self.classifier.close()


def load_folder(path: str | os.PathLike[str], *, device: str = "auto") -> ZooTarget:
    """Load a target from the folder of a trained model."""
    folder = Path(path)
    if load_card(folder).kind == "transformer":
        card = load_card_checked(folder)
        classifier = transformers.load(str(folder), device=device)
        return WhiteBoxZooTarget(card, TransformerModel(classifier), lambda: classifier)
    model: Any
    card, model = open_model(folder, device)
    if card.kind == "picture":
        has_gradients = hasattr(model, "gradients")
        return (PictureNetworkTarget if has_gradients else PictureZooTarget)(card, model)
    if card.kind != "network":
        return ZooTarget(card, model)
    from brittle.zoo.white_box import NetworkWhiteBox  # imports torch, as the model does

    return WhiteBoxZooTarget(card, model, lambda: NetworkWhiteBox(model, card.full_name))
