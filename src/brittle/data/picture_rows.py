"""Checks of pictures that Python callers pass as examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from brittle.errors import UsageError


def check_sizes(encoded: Sequence[str], names: Sequence[str] = ()) -> None:
    """Refuse pictures of several sizes: no model that we know reads them."""
    sizes = [text.partition(":")[0] for text in encoded]
    for i, size in enumerate(sizes):
        if size != sizes[0]:
            here, first = (names[i], names[0]) if names else (f"Row {i} (counted from 0)", "row 0")
            raise UsageError(
                f"{here} is a picture of {_size(size)}, but {first} one of {_size(sizes[0])}. "
                "Expected pictures of one size and one number of channels: resize them."
            )


def _size(text: str) -> str:
    height, width, channels = text.split("x")
    return f"{height} × {width} pixels and {channels} channel{'s' if channels != '1' else ''}"


def is_pictures_and_labels(data: Any) -> bool:
    """Tell whether something is an array of pictures and an array or list of their labels."""
    if not isinstance(data, tuple) or len(data) != 2 or getattr(data[0], "ndim", 0) < 3:
        return False
    pictures, labels = data
    if np.ndim(labels) == 1 and len(labels) == len(pictures):
        return True
    raise UsageError(
        f"Got {len(pictures)} pictures and labels of shape {np.shape(labels)} as examples. "
        "Expected one label for each picture."
    )
