"""Pictures of one shape as keys, and back: the bytes of their pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.picture import Shape, check_pictures


def keys_of(items: Sequence[Any], shape: Shape, name: str) -> list[bytes]:
    """Return the keys of pictures; what is no picture of this shape is an error."""
    check_pictures(items, shape, f"The model {name!r}")
    return [item.pixels.tobytes() for item in items]


def pixels_of(keys: Sequence[bytes], shape: Shape) -> NDArray[np.float32]:
    """Return the pixels of keys, as pictures × height × width × channels."""
    return np.frombuffer(b"".join(keys), np.float32).reshape(len(keys), *shape)
