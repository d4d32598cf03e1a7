"""Picture: an immutable array of pixels from 0 to 1."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError

CHANNELS = (1, 3, 4)
BYTE = np.float32(255)
PIL_MODES = ("1", "L", "RGB", "RGBA")  # those that are arrays of 1, 3 or 4 channels
ENCODED = re.compile(r"\d+x\d+x[134]:(u1|<f4):[A-Za-z0-9+/]+=*")


def is_picture(value: object) -> bool:
    """Tell whether something is meant as a picture: one of ours, an array, or a PIL image."""
    return isinstance(value, Picture | np.ndarray) or hasattr(value, "getbands")


def is_encoded(text: str) -> bool:
    """Tell whether a string is an encoded picture."""
    return ENCODED.fullmatch(text) is not None


def encoded_shape(text: str) -> tuple[int, int, int]:
    """Return the height, width and channels of an encoded picture; it is not decoded."""
    height, width, channels = (int(n) for n in text.partition(":")[0].split("x"))
    return height, width, channels


class Picture:
    """An immutable picture: `pixels` are float32, height × width × channels, from 0 to 1."""

    __slots__ = ("pixels",)
    kind: ClassVar[str] = "picture"
    pixels: NDArray[np.float32]

    def __init__(self, pixels: Any) -> None:
        array = np.array(pixels, dtype=np.float32)
        if array.ndim == 2:
            array = array[:, :, None]
        if array.ndim != 3 or array.shape[2] not in CHANNELS or not array.size:
            raise UsageError(
                f"Got a picture of shape {np.shape(pixels)}. Expected height × width, or height × "
                "width × channels with 1 (grey), 3 or 4 channels."
            )
        if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
            raise UsageError(
                f"Got a picture with values from {array.min():g} to {array.max():g}. Expected 0 to "
                "1: divide pixels of 0 to 255 by 255."
            )
        array.flags.writeable = False
        object.__setattr__(self, "pixels", array)

    @staticmethod
    def of(source: Any) -> Picture:
        """Build a picture from an array or a PIL image; whole numbers are read as 0 to 255."""
        if isinstance(source, Picture):
            return source
        if hasattr(source, "convert") and source.mode not in PIL_MODES:
            source = source.convert("RGB")
        array = np.asarray(source)
        if array.dtype == np.bool_:
            array = array.astype(np.float32)
        elif np.issubdtype(array.dtype, np.integer) and array.size and array.max() <= BYTE:
            array = array.astype(np.float32) / BYTE
        return Picture(array)

    @staticmethod
    def decode(text: str) -> Picture:
        """Build a picture from the string that `encode` made of it."""
        try:
            shape, dtype, content = text.split(":")
            raw = zlib.decompress(base64.b64decode(content, validate=True))
            array = np.frombuffer(raw, dtype=np.dtype(dtype)).reshape(
                [int(n) for n in shape.split("x")]
            )
        except (ValueError, TypeError, zlib.error) as error:
            raise UsageError(
                f"Got {text[:40]!r} as a picture. Expected a string made by Picture.encode()."
            ) from error
        return Picture(array / BYTE if array.dtype == np.uint8 else array)

    def encode(self) -> str:
        """Return the picture as a short string, exactly: bytes where these suffice, else floats."""
        grey = np.rint(self.pixels * BYTE).astype(np.uint8)
        is_exact = np.array_equal(grey / BYTE, self.pixels)
        array = grey if is_exact else self.pixels
        shape = "x".join(map(str, array.shape))
        content = base64.b64encode(zlib.compress(array.tobytes())).decode()
        return f"{shape}:{'u1' if is_exact else '<f4'}:{content}"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Picture is immutable: {name!r} cannot be set. Build a new one.")

    def __reduce__(self) -> tuple[type[Picture], tuple[NDArray[np.float32]]]:
        return Picture, (self.pixels,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Picture):
            return NotImplemented
        return np.array_equal(self.pixels, other.pixels)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Picture({'×'.join(map(str, self.pixels.shape))})"

    @property
    def key(self) -> bytes:
        """The bytes that identify the picture: its shape and its pixels."""
        return repr(self.pixels.shape).encode() + self.pixels.tobytes()

    @property
    def size(self) -> int:
        """The number of pixels."""
        height, width, _ = self.pixels.shape
        return int(height * width)


@dataclass(frozen=True)
class PixelGradientRequest:
    """A picture, and the class that it should leave (`label`) or, if given, reach (`toward`).

    What rises is the cross-entropy of the class to leave, or the log-probability of that to reach.
    """

    picture: Picture
    label: int
    toward: int | None = None

    @property
    def key(self) -> bytes:
        return f"{self.label} {self.toward} ".encode() + self.picture.key

    @property
    def size(self) -> int:
        return self.picture.size


def stack(items: Sequence[Any], shape: tuple[int, int, int], who: str) -> NDArray[np.float32]:
    """Return pictures as one array; anything else, or another shape, is an error."""
    for item in items:
        if not isinstance(item, Picture):
            raise UsageError(
                f"{who} reads pictures, but got a {type(item).__name__}. Use data of pictures: "
                "mnist, an .npz file, or a folder with a sub-folder for each class."
            )
        if item.pixels.shape != shape:
            got, expected = (" × ".join(map(str, s)) for s in (item.pixels.shape, shape))
            raise UsageError(
                f"{who} reads pictures of {expected} (height × width × channels), but got one of "
                f"{got}. Resize it, or use data of that size."
            )
    return np.stack([item.pixels for item in items]) if items else np.zeros((0, *shape), np.float32)
