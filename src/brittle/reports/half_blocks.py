"""Pictures in the terminal: two pixels a character, in grey; without colour, one of ten signs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.style import Style
from rich.text import Text

from brittle.picture import Picture

MAX_WIDTH, MAX_HEIGHT = 32, 24  # characters
GAP = 2  # characters between two pictures
SIGNS = " .:-=+*#%@"
UPPER_HALF = "▀"


def picture_lines(pictures: list[Picture], has_colour: bool = True, columns: int = 66) -> Text:
    """Draw pictures of one size side by side, as many as `columns` hold; a wide one is smaller."""
    drawn = [_lines(_grey(picture), has_colour) for picture in pictures]
    at_a_time = max(1, (columns + GAP) // (len(drawn[0][0]) + GAP))
    rows = [drawn[start : start + at_a_time] for start in range(0, len(drawn), at_a_time)]
    between = Text(GAP * " ")
    return Text("\n").join(between.join(line) for row in rows for line in zip(*row))


def _grey(picture: Picture) -> NDArray[np.float64]:
    """Return the brightness of every pixel, in blocks if there are too many; its height is even."""
    pixels = picture.pixels[:, :, :3].mean(axis=2, dtype=np.float64)
    height, width = pixels.shape
    block = max(-(-width // MAX_WIDTH), -(-height // (2 * MAX_HEIGHT)))
    padded = np.pad(pixels, ((0, -height % (2 * block)), (0, -width % block)), mode="edge")
    rows, columns = (side // block for side in padded.shape)
    small: NDArray[np.float64] = padded.reshape(rows, block, columns, block).mean(axis=(1, 3))
    return small


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
