"""Pictures along one direction, ever further from the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from brittle.attacks.setting_checks import check_distance
from brittle.errors import UsageError
from brittle.picture import Picture

MAX_STEPS = 1000  # every step is a picture in memory

Epsilon = Annotated[float | None, "change every pixel by this much (default: the least that wins)"]
Step = Annotated[float, "without --epsilon: try the multiples of this"]
Largest = Annotated[float, "without --epsilon: up to this"]


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
