"""FGSM, and noise of the same size, its baseline: every pixel moves by the same ε.

FGSM: move every pixel by the same ε, along the sign of the gradient. Noise: move every pixel by the
same ε, up or down at random. Pictures along one direction, ever further from the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from brittle.asks import Case, Gradient, Search, Try, Unfit
from brittle.attacks.recipes import check_distance
from brittle.attacks.registry import registered
from brittle.errors import UsageError
from brittle.picture import Picture, PixelGradientRequest

MAX_STEPS = 1000  # every step is a picture in memory

Epsilon = Annotated[
    float | None, "change every pixel by this much (default: the smallest that wins)"
]
Step = Annotated[float, "without --epsilon: distance between the values to try"]
Largest = Annotated[float, "without --epsilon: largest value to try"]


def distances(epsilon: float | None, step: float, largest: float) -> tuple[float, ...]:
    """Return the one distance ε that is asked for, or every multiple of a step up to the largest.

    >>> distances(None, 0.25, 0.8)
    (0.25, 0.5, 0.75)
    """
    if epsilon is not None:
        check_distance(epsilon=epsilon)
        return (epsilon,)
    check_distance(step=step, largest=largest)
    count = int(largest / step + 1e-9)  # 0.3 / 0.1 is a little below 3
    if count > MAX_STEPS:
        raise UsageError(
            f"Got --step {step:g}, which makes {count:,} pictures up to {largest:g}. Expected at "
            f"most {MAX_STEPS:,}: take a step of {largest / MAX_STEPS:g} or more, or a smaller "
            "--largest."
        )
    return tuple(min(step * n, largest) for n in range(1, count + 1)) or (largest,)


def pictures_along(
    picture: Picture, direction: NDArray[np.floating], distances: Sequence[float]
) -> list[Picture]:
    """Move every pixel by ε times its direction, for every ε; pixels stay within 0 and 1."""
    return [
        Picture(np.clip(picture.pixels + np.float32(epsilon) * direction, 0, 1))
        for epsilon in distances
    ]


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


@dataclass(frozen=True)
class Noise:
    """Random noise, the floor for every attack on pictures.

    FGSM with random signs in place of the gradient's: before the clipping to pixels from 0 to 1,
    its noise has the same norms. A picture has one pattern of signs, made larger step by step.

    Random draws: `randbytes`, a bit for each number of the picture.
    """

    epsilons: tuple[float, ...]
    asks: ClassVar = (Try,)
    item_kind: ClassVar = "picture"

    def __call__(self, case: Case[Picture], rng: Random) -> Search[None]:
        pixels = case.item.pixels
        bits = np.frombuffer(rng.randbytes(-(-pixels.size // 8)), np.uint8)
        sign = np.unpackbits(bits, count=pixels.size).reshape(pixels.shape)
        direction = 2 * sign.astype(np.float32) - 1
        yield from Try(pictures_along(case.item, direction, self.epsilons), in_order=True)


@registered("noise")
def noise(
    *,
    epsilon: Epsilon = None,
    step: Step = 0.01,
    largest: Largest = 1.0,
) -> Noise:
    """Move every pixel by ε, up or down at random: the floor for attacks on pictures."""
    return Noise(distances(epsilon, step, largest))
