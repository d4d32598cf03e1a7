"""Sheets of small pictures: named rows, and a word in the corner of each picture, as one SVG."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.png import png
from brittle.reports.axes import CHARACTER_WIDTH
from brittle.reports.escaping import escape

SIDE, GAP, CORNER = 62, 4, 15
HEAD = 20
INK, CHANGED = "#33658a", "#c1452f"
"""The colours of a corner: of one that says what the first row says, and of one that does not."""


@dataclass(frozen=True)
class SheetPicture:
    """A picture of bytes or of numbers from 0 to 1, height × width × channels, and its corner."""

    pixels: NDArray[np.generic]
    corner: str = ""
    stands_out: bool = False


@dataclass(frozen=True)
class SheetRow:
    """A row of a sheet; where there is no picture, the place is empty."""

    name: str
    pictures: Sequence[SheetPicture | None]


def sheet_figure(rows: Sequence[SheetRow], heads: Sequence[str] = ()) -> str:
    """Draw rows of pictures, all of one size, with a name before each; `heads` name columns."""
    columns = max((len(row.pictures) for row in rows), default=0)
    left = 12 + CHARACTER_WIDTH * max((len(row.name) for row in rows), default=0)
    top = HEAD if heads else 0
    width = round(left + columns * (SIDE + GAP))
    height = top + len(rows) * (SIDE + GAP)
    parts = [
        f'<text x="{left + n * (SIDE + GAP) + SIDE / 2:.1f}" y="13" text-anchor="middle">'
        f"{escape(head)}</text>"
        for n, head in enumerate(heads)
    ]
    for number, row in enumerate(rows):
        y = top + number * (SIDE + GAP)
        parts.append(f'<text x="0" y="{y + SIDE / 2 + 4:.1f}">{escape(row.name)}</text>')
        parts += [
            _picture(picture, left + n * (SIDE + GAP), y)
            for n, picture in enumerate(row.pictures)
            if picture is not None
        ]
    described = "; ".join(
        f"{row.name}: {', '.join(p.corner if p else 'none' for p in row.pictures)}" for row in rows
    )
    return (
        f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Pictures, with what stands in their corners. {escape(described)}">'
        f"{''.join(parts)}</svg>"
    )


def _picture(picture: SheetPicture, x: float, y: float) -> str:
    pixels = picture.pixels
    if pixels.dtype != np.uint8:
        pixels = np.rint(255 * pixels.astype(np.float64)).astype(np.uint8)
    content = base64.b64encode(png(pixels.astype(np.uint8))).decode("ascii")
    place = f'x="{x:.1f}" y="{y:.1f}" width="{SIDE}" height="{SIDE}"'
    image = f'<image {place} image-rendering="pixelated" href="data:image/png;base64,{content}"/>'
    if not picture.corner:
        return image
    wide = max(CORNER, CHARACTER_WIDTH * len(picture.corner) + 8)
    colour = CHANGED if picture.stands_out else INK
    box = f'x="{x + SIDE - wide:.1f}" y="{y + SIDE - CORNER:.1f}" width="{wide:.1f}"'
    return (
        f'{image}<rect {box} height="{CORNER}" fill="{colour}"/>'
        f'<text x="{x + SIDE - wide / 2:.1f}" y="{y + SIDE - 3.5:.1f}" text-anchor="middle">'
        f'<tspan fill="#ffffff">{escape(picture.corner)}</tspan></text>'
    )
