"""Checks of pictures that are to be examples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Sized
from typing import Any

from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.picture import BYTE, Picture, has_bytes, is_picture

MAX_DARK = 31  # of 255; a picture without a brighter pixel is nearly black
DARK = "The brightest pixel of all pictures is"


def dark_warning(encoded: Iterable[str]) -> str | None:
    """Warn if all pictures are nearly black: whole numbers that end at 1 or 16, not at 255.

    Only up to the first bright picture is anything decoded. Floats are what they are meant to be.
    """
    largest = 0
    for text in encoded:
        if not has_bytes(text):
            return None
        largest = max(largest, round(float(Picture.decode(text).pixels.max() * BYTE)))
        if largest > MAX_DARK:
            return None
    if not largest:
        return None
    return (
        f"{DARK} {largest} of 255, which is nearly black. Whole numbers are read as 0 to 255: if "
        f"{largest} stands for white, divide the pixels by {largest} first."
    )


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
    return f"{height} × {width} pixels and {plural(int(channels), 'channels')}"


def is_pictures_and_labels(data: Any) -> bool:
    """Tell whether something is the pair of pictures and their labels, arrays or lists."""
    if not isinstance(data, tuple) or len(data) != 2:
        return False
    pictures, labels = data
    dimensions = getattr(pictures, "ndim", 0)
    if dimensions == 2 and _is_column(labels):
        raise _rows_of_pixels(*pictures.shape)
    is_list = isinstance(pictures, list | tuple) and bool(pictures) and _is_column(labels)
    if dimensions < 3 and not (is_list and all(map(is_picture, pictures))):
        return False
    if _is_column(labels) and len(labels) == len(pictures):
        return True
    shape = getattr(labels, "shape", (len(labels),) if isinstance(labels, Sized) else ())
    raise UsageError(
        f"Got {len(pictures)} pictures and labels of shape {tuple(shape)} as examples. Expected "
        "one label for each picture: the number or the name of its class."
    )


def _is_column(labels: Any) -> bool:
    if isinstance(labels, list | tuple):
        return not any(is_picture(label) or isinstance(label, list | tuple) for label in labels)
    return bool(getattr(labels, "ndim", 0) == 1)


def _rows_of_pixels(count: int, pixels: int) -> UsageError:
    side = math.isqrt(pixels)
    shape = f"{count}, {side}, {side}" if side * side == pixels else f"{count}, height, width"
    return UsageError(
        f"Got {count} rows of {pixels} numbers, and labels, as examples. Expected pictures × "
        f"height × width, with or without channels: pictures.reshape({shape})."
    )
