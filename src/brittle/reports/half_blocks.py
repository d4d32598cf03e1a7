"""Pictures in the terminal: two pixels a character, in grey; without colour, one of ten signs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.style import Style
from rich.text import Text

from brittle.picture import Picture

MAX_WIDTH = 32  # characters
SIGNS = " .:-=+*#%@"
UPPER_HALF = "▀"


def picture_lines(pictures: list[Picture], has_colour: bool = True) -> Text:
    """Draw pictures side by side; a wide one is made smaller."""
    lines = [_lines(_grey(picture), has_colour) for picture in pictures]
    return Text("\n").join(Text("  ").join(row) for row in zip(*lines))


def _grey(picture: Picture) -> NDArray[np.float64]:
    """Return the brightness of every pixel, in blocks if there are too many; its height is even."""
    pixels = picture.pixels[:, :, :3].mean(axis=2, dtype=np.float64)
    block = -(-pixels.shape[1] // MAX_WIDTH)
    height, width = (side // block for side in pixels.shape)
    if not height:
        height, block = 1, pixels.shape[0]
        width = max(1, pixels.shape[1] // block)
    part = pixels[: height * block, : width * block]
    small: NDArray[np.float64] = part.reshape(height, block, width, block).mean(axis=(1, 3))
    return np.pad(small, ((0, height % 2), (0, 0)))


def _lines(grey: NDArray[np.float64], has_colour: bool) -> list[Text]:
    lines = []
    for upper, lower in zip(grey[::2], grey[1::2]):
        line = Text()
        for high, low in zip(upper, lower):
            if has_colour:
                style = Style(color=_colour(high), bgcolor=_colour(low))
                line.append(UPPER_HALF, style)
            else:
                line.append(SIGNS[round((high + low) / 2 * (len(SIGNS) - 1))])
        lines.append(line)
    return lines


def _colour(brightness: float) -> str:
    level = f"{round(255 * brightness):02x}"
    return f"#{level * 3}"
