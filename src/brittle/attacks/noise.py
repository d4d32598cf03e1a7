"""Noise: move every pixel by the same ε, up or down at random."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import ClassVar

import numpy as np

from brittle.asks import Case, Search, Try
from brittle.attacks.pixel_paths import Epsilon, Largest, Step, distances, pictures_along
from brittle.attacks.registry import registered
from brittle.picture import Picture


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
