"""PNG files without a library: one filter, one block of pixels; and sheets of many pictures."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

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
