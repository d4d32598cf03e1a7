"""FGSM: move every pixel by the same ε, along the sign of the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar

import numpy as np

from brittle.asks import Case, Gradient, Search, Try, Unfit
from brittle.attacks.pixel_paths import Epsilon, Largest, Step, distances, pictures_along
from brittle.attacks.registry import registered
from brittle.picture import Picture, PixelGradientRequest

ZERO_GRADIENT = "the gradient is zero"


@dataclass(frozen=True)
class FGSM:
    """The fast gradient sign method (Goodfellow, Shlens and Szegedy, 2015).

    x + ε · sign(∇ J(x, y)), with the cross-entropy J, clipped to pixels from 0 to 1. With a goal
    toward a class, the gradient is that of its log-probability. One gradient a picture, at the
    original. The paper has one ε; of several, tried in order, the least that wins counts.
    A picture whose gradient is zero everywhere is skipped.
    """

    epsilons: tuple[float, ...]
    asks: ClassVar = (Gradient, Try)
    item_kind: ClassVar = "picture"

    def __call__(self, case: Case[Picture], rng: Random) -> Search[None]:
        assert case.label is not None
        request = partial(PixelGradientRequest, label=case.label, toward=case.toward)
        gradients = yield from Gradient([case.item], request)
        direction = np.sign(gradients[0])
        if not direction.any():
            raise Unfit(ZERO_GRADIENT)
        yield from Try(pictures_along(case.item, direction, self.epsilons), in_order=True)


@registered("fgsm")
def fgsm(
    *,
    epsilon: Epsilon = None,
    step: Step = 0.01,
    largest: Largest = 1.0,
) -> FGSM:
    """Move every pixel of a picture by ε along the sign of the gradient (FGSM)."""
    return FGSM(distances(epsilon, step, largest))
