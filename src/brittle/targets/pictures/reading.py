"""Pictures as arrays, and as rows of pixels for scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.picture import Picture, Shape, stack

PROBES = 8


def probe_pictures(shape: Shape) -> list[Picture]:
    """Build fixed pictures of noise, whose scores identify a model that cannot be hashed."""
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 256, (PROBES, *shape), dtype=np.uint8)
    return [Picture.of(picture) for picture in pixels]


@dataclass(frozen=True)
class ArrayReader:
    """Reads pictures of one shape as an array, pictures × height × width × channels."""

    shape: Shape
    item_kind: str = "picture"

    def read(self, items: Sequence[Picture], who: str) -> NDArray[np.float32]:
        return stack(items, self.shape, who)

    def probes(self) -> list[Picture]:
        return probe_pictures(self.shape)

    def describe(self, *kind: str) -> tuple[str, ...]:
        return picture_settings(self.shape, *kind)


@dataclass(frozen=True)
class PixelReader(ArrayReader):
    """Reads pictures of one shape as rows: line by line, the channels of a pixel together.

    This is what `pictures.reshape(len(pictures), -1)` gives of pictures × height × width ×
    channels.
    """

    def read(self, items: Sequence[Picture], who: str) -> NDArray[np.float32]:
        return super().read(items, who).reshape(len(items), -1)

    def misfit(self, who: str, error: Exception) -> UsageError:
        size = " × ".join(map(str, self.shape))
        return UsageError(
            f"{who} does not take the pictures of the data, {size} (height × width × channels), as "
            f"rows of {np.prod(self.shape)} pixels: {type(error).__name__}: {error} Use data "
            "of the size that it was fitted on, or put what prepares them before it in one fitted "
            "pipeline."
        )


def picture_settings(shape: Shape, *more: Any) -> tuple[str, ...]:
    """Return what makes a target on pictures of this shape another target, for fingerprints."""
    return ("picture", *map(str, shape), *map(str, more))
