"""A classifier of the zoo that looks at the samples of a generator. This file needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.picture import Picture
from brittle.zoo.model import Model, open_model
from brittle.zoo.model_cache import trained_models

JUDGE = "LeNet"
PICTURES_PER_PASS = 256
MISSING_SHARE = 0.01  # a class with less of the samples is missing


@dataclass(frozen=True)
class Judge:
    """A trained classifier of the same pictures: its name, its labels, and the model."""

    name: str
    labels: tuple[str, ...]
    model: Model

    def probabilities(self, pixels: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probabilities of pictures × height × width × channels."""
        parts = []
        for start in range(0, len(pixels), PICTURES_PER_PASS):
            pictures = Picture.rows(pixels[start : start + PICTURES_PER_PASS])
            logits = self.model.logits(self.model.encode(pictures)).astype(np.float64)  # type: ignore[arg-type]
            power = np.exp(logits - logits.max(axis=1, keepdims=True))
            parts.append(power / power.sum(axis=1, keepdims=True))
        return np.concatenate(parts)

    def missing(self, pixels: NDArray[np.float32]) -> list[str]:
        """Return the classes that hardly any of the pictures are seen as."""
        share = np.bincount(self.probabilities(pixels).argmax(axis=1), minlength=len(self.labels))
        return [
            label for label, count in zip(self.labels, share) if count < MISSING_SHARE * len(pixels)
        ]


def find_judge(data: str, shape: Sequence[int]) -> Judge | None:
    """Open the best LeNet in the cache that was trained on these data; None if there is none."""
    fitting = [
        model
        for model in trained_models()
        if (model.name, model.data) == (JUDGE, data) and model.card.parts["shape"] == list(shape)
    ]
    if not fitting:
        return None
    best = max(fitting, key=lambda model: model.dev_accuracy or 0.0)
    card, model = open_model(best.path)
    return Judge(card.full_name, card.labels, model)
