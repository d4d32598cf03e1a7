"""Picture: an immutable array of pixels from 0 to 1."""

from __future__ import annotations

import base64
import zlib
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError

CHANNELS = (1, 3, 4)
BYTE = np.float32(255)


class Picture:
    """An immutable picture: `pixels` are float32 from 0 to 1, of height × width × channels."""

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
