"""A point of a generator's latent space, as an item that `Decode` asks about."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from brittle.errors import TargetError, UsageError

Numbers = NDArray[np.float64]


class LatentPoint:
    """An immutable vector; points with the same numbers are one computation."""

    __slots__ = ("vector",)
    kind: ClassVar[str] = "latent point"
    vector: NDArray[np.float32]

    def __init__(self, vector: Any) -> None:
        array = np.array(vector, dtype=np.float32)
        if array.ndim != 1 or not array.size or not np.isfinite(array).all():
            raise UsageError(
                f"Got a latent point of shape {np.shape(vector)}; expected one row of finite "
                "numbers."
            )
        array.flags.writeable = False
        object.__setattr__(self, "vector", array)

    @staticmethod
    def rows(vectors: Any) -> list[LatentPoint]:
        """Build a point of every row; they are checked all at once.

        >>> LatentPoint.rows([[0.0, 1.0], [2.0, 3.0]])
        [LatentPoint(2 numbers), LatentPoint(2 numbers)]
        """
        array = np.array(vectors, dtype=np.float32)
        if not len(array):
            return []
        if array.ndim != 2 or not array.size or not np.isfinite(array).all():
            raise UsageError(
                f"Got latent points of shape {array.shape}; expected rows of finite numbers."
            )
        array.flags.writeable = False
        points = []
        for row in array:
            point = object.__new__(LatentPoint)
            object.__setattr__(point, "vector", row)
            points.append(point)
        return points

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"LatentPoint is immutable: {name!r} cannot be set. Build a new one.")

    def __reduce__(self) -> tuple[type[LatentPoint], tuple[NDArray[np.float32]]]:
        return LatentPoint, (self.vector,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LatentPoint):
            return NotImplemented
        return np.array_equal(self.vector, other.vector)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"LatentPoint({self.vector.size} numbers)"

    @property
    def key(self) -> bytes:
        return self.vector.tobytes()

    @property
    def size(self) -> int:
        return 1


def encoded_points(rows: NDArray[np.float32], generator: str) -> list[LatentPoint]:
    """Build the points that a network encoded; numbers that are not finite are its error."""
    if not np.isfinite(rows).all():
        raise TargetError(
            f"The generator {generator!r} encoded an item as numbers that are not finite. "
            "Its weights may be damaged: train it again with --new."
        )
    return LatentPoint.rows(rows)


def draw_shell(
    numbers: np.random.Generator, count: int, size: int, low: float, high: float
) -> tuple[Numbers, Numbers]:
    """Draw offsets, one a row, with lengths uniform in (low, high]; return offsets and lengths.

    First the normal directions of all are drawn, then their uniform lengths.
    """
    direction = numbers.standard_normal((count, size))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    length = high - (high - low) * numbers.random(count)
    return direction * length[:, None], length
