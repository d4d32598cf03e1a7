"""Picture: an immutable array of pixels from 0 to 1, and PNG files of it without a library.

PNG files without a library: one filter, one block of pixels; and sheets of many pictures. Picture:
an immutable array of pixels from 0 to 1.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOUR_TYPES = {1: 0, 3: 2, 4: 6}  # by the number of channels: grey, RGB, RGB with opacity


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Write height × width × channels as a PNG file; 1, 3 or 4 channels of 8 bits."""
    height, width, channels = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, COLOUR_TYPES[channels], 0, 0, 0)
    lines = pixels.reshape(height, width * channels)
    unfiltered = np.insert(lines, 0, 0, axis=1)  # every line begins with its filter: none
    content = zlib.compress(unfiltered.tobytes(), 9)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", content) + _chunk(b"IEND", b"")


def contact_sheet(pixels: NDArray[np.float32], columns: int) -> bytes:
    """Write pictures × height × width × channels, from 0 to 1, as one PNG file.

    Between the pictures are lines of one pixel, half as bright as can be.
    """
    count, height, width, channels = pixels.shape
    rows = -(-count // columns)
    sheet = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1, channels), 128, np.uint8)
    for n, picture in enumerate(np.rint(255 * pixels).astype(np.uint8)):
        top, left = (1 + n // columns * (height + 1), 1 + n % columns * (width + 1))
        sheet[top : top + height, left : left + width] = picture
    return png(sheet)


def _chunk(name: bytes, content: bytes) -> bytes:
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)


Shape = tuple[int, int, int]  # height, width, channels
FIELD = "picture"  # the one field of an example that is a picture
CHANNELS = (1, 3, 4)
MAX_PIXELS = 1 << 25  # of a picture in a file: a small file may claim any size
ROWS_AT_A_TIME = 256
BYTE = np.float32(255)
PIXEL_TYPES = ("u1", "<f4")  # the types of pixels that are written
SIXTEEN_BITS = np.float32(65535)
PIL_MODES = ("1", "L", "RGB", "RGBA")  # those that are arrays of 1, 3 or 4 channels
ENCODED = re.compile(r"\d+x\d+x[134]:(u1|<f4):[A-Za-z0-9+/]+=*")


def is_picture(value: object) -> bool:
    """Tell whether something is meant as a picture: one of ours, an array, or a PIL image.

    An array of another library, such as a tensor, is one if it has two dimensions or more.
    """
    if isinstance(value, Picture | np.ndarray) or hasattr(value, "getbands"):
        return True
    return hasattr(value, "__array__") and getattr(value, "ndim", 0) >= 2


def is_encoded(text: str) -> bool:
    """Tell whether a string is an encoded picture."""
    return ENCODED.fullmatch(text) is not None


def encoded_shape(text: str) -> Shape:
    """Return the height, width and channels of an encoded picture; it is not decoded."""
    height, width, channels = (int(n) for n in text.partition(":")[0].split("x"))
    return height, width, channels


def has_bytes(text: str) -> bool:
    """Tell whether the pixels of an encoded picture are bytes; else they are floats."""
    return text.partition(":")[2].startswith("u1:")


class Picture:
    """An immutable picture: `pixels` are float32, height × width × channels, from 0 to 1."""

    __slots__ = ("pixels",)
    kind: ClassVar[str] = "picture"
    pixels: NDArray[np.float32]

    def __init__(self, pixels: Any) -> None:
        self._own(np.array(pixels, dtype=np.float32))

    def _own(self, array: NDArray[np.float32]) -> None:
        """Become the picture of an array that nobody else has."""
        shape = array.shape
        if array.ndim == 2:
            array = array[:, :, None]
        if array.ndim != 3 or array.shape[2] not in CHANNELS or not array.size:
            is_turned = array.ndim == 3 and array.shape[0] in CHANNELS
            remedy = " Move the channels to the end: numpy.moveaxis(picture, 0, -1)."
            raise UsageError(
                f"Got a picture of shape {shape}. Expected height × width, or height × "
                f"width × channels with 1 (grey), 3 or 4 channels.{remedy if is_turned else ''}"
            )
        _check_range(array)
        array.flags.writeable = False
        object.__setattr__(self, "pixels", array)

    @staticmethod
    def of(source: Any) -> Picture:
        """Build a picture from an array or a PIL image; whole numbers mean 0 to 255."""
        if isinstance(source, Picture):
            return source
        if hasattr(source, "getbands"):
            return _scaled(_pil_pixels(source))
        if hasattr(source, "detach"):  # a tensor that has a gradient, or lies on another device
            source = source.detach().cpu()
        return _scaled(np.asarray(source))

    @staticmethod
    def rows(pixels: NDArray[Any]) -> list[Picture]:
        """Build pictures from an array, pictures × height × width × channels, checked in one step.

        >>> Picture.rows(np.zeros((2, 8, 8, 1)))
        [Picture(8×8×1), Picture(8×8×1)]
        """
        array = np.asarray(pixels, dtype=np.float32)
        if not len(array):
            return []
        Picture(array[0])
        _check_range(array)
        pictures = PictureRows()
        pictures.pixels = array
        for row in array:
            picture = object.__new__(Picture)
            own = row.copy()  # a view would keep all the others in memory
            own.flags.writeable = False
            object.__setattr__(picture, "pixels", own)
            pictures.append(picture)
        return pictures

    @staticmethod
    def decode(text: str) -> Picture:
        """Build a picture from a string made by `encode`."""
        try:
            shape, dtype, content = text.split(":")
            if dtype not in PIXEL_TYPES:
                raise ValueError(f"pixels of type {dtype!r}")
            height, width, channels = (int(n) for n in shape.split("x"))
            if height * width > MAX_PIXELS:
                raise ValueError(f"{height} × {width} pixels")
            size = height * width * channels * np.dtype(dtype).itemsize
            packed = base64.b64decode(content, validate=True)
            raw = zlib.decompressobj().decompress(packed, max(1, size + 1))
            array = np.frombuffer(raw, dtype=np.dtype(dtype)).reshape(height, width, channels)
        except (ValueError, TypeError, zlib.error) as error:
            raise UsageError(
                f"Got {text[:40]!r} as a picture. Expected a string made by Picture.encode()."
            ) from error
        return _scaled(array)

    def encode(self) -> str:
        """Return the picture as a short lossless string: as bytes if possible, else as floats."""
        array = np.empty(self.pixels.shape, np.uint8)
        is_exact = True
        for start in range(0, len(array), ROWS_AT_A_TIME):  # a whole copy may be large
            rows = slice(start, start + ROWS_AT_A_TIME)
            array[rows] = np.rint(self.pixels[rows] * BYTE)
            is_exact = is_exact and np.array_equal(array[rows] / BYTE, self.pixels[rows])
        content = (array if is_exact else self.pixels).tobytes()
        shape = "x".join(map(str, array.shape))
        packed = base64.b64encode(zlib.compress(content)).decode()
        return f"{shape}:{PIXEL_TYPES[not is_exact]}:{packed}"

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


def _check_range(array: NDArray[np.float32]) -> None:
    """Refuse pixels that are no numbers from 0 to 1, with what is probably wrong with them."""
    low, high = array.min(), array.max()
    if not np.isfinite(array).all():
        raise UsageError(
            "Got a picture with pixels that are NaN or infinite. Expected numbers from 0 to 1: "
            "repair or remove it."
        )
    if low >= 0 and high <= 1:
        return
    remedy = "divide pixels of 0 to 255 by 255"
    if low < 0:
        remedy = "undo the step that shifted pixels below 0, such as a normalisation"
    elif high > BYTE:
        remedy = "divide the pixels by their largest possible value (16 bits: 65535)"
    raise UsageError(
        f"Got a picture with values from {low:g} to {high:g}. Expected 0 to 1: {remedy}."
    )


def _scaled(array: NDArray[Any]) -> Picture:
    """Build a picture; whole numbers are divided by 255, and any beyond that are refused."""
    if array.dtype == np.bool_:
        scale = np.float32(1)
    elif np.issubdtype(array.dtype, np.integer) and array.size and array.max() <= BYTE:
        scale = BYTE
    else:
        return Picture(array)
    picture = object.__new__(Picture)
    picture._own(np.divide(array, scale, dtype=np.float32))  # not copied again: it may be large
    return picture


def _pil_pixels(image: Any) -> NDArray[Any]:
    """Return the pixels of a PIL image; grey ones have one channel, however they are stored."""
    mode = image.mode
    if mode.startswith("I;16"):
        return np.asarray(image).astype(np.float32) / SIXTEEN_BITS
    if mode in ("I", "F"):
        raise UsageError(
            f"Got a PIL image of mode {mode!r}, whose pixels have no fixed range. "
            "Expected 8 or 16 bits: convert it, or pass an array from 0 to 1."
        )
    if mode not in PIL_MODES:
        palette = np.reshape(image.getpalette("RGB"), (-1, 3)) if mode == "P" else None
        is_grey = mode == "LA" or (palette is not None and (palette == palette[:, :1]).all())
        image = image.convert("L" if is_grey else "RGB")
    return np.asarray(image)


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


class PictureRows(list[Picture]):
    """Pictures that were made together; `pixels` still holds all of them, as one array.

    Do not change the list: a slice of it has a view of the array.
    """

    pixels: NDArray[np.float32]

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(key, slice):
            rows = PictureRows(found)
            rows.pixels = self.pixels[key]
            return rows
        return found


def stack(
    items: Sequence[Any], shape: Shape, who: str, *, is_only_read: bool = False
) -> NDArray[np.float32]:
    """Return pictures as one array; anything else, or another shape, is an error.

    It belongs to the caller, unless it `is_only_read`: then it may be the array that holds all.
    """
    if isinstance(items, PictureRows) and items.pixels.shape == (len(items), *shape):
        return items.pixels if is_only_read else items.pixels.copy()
    check_pictures(items, shape, who)
    if not items:
        return np.zeros((0, *shape), np.float32)
    # Joined along their rows, which takes half as long as np.stack.
    return np.concatenate([item.pixels for item in items]).reshape(len(items), *shape)


def check_pictures(items: Sequence[Any], shape: Shape, who: str) -> None:
    """Refuse what is no picture of this shape."""
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
