"""The contact sheets of the page: digits beside their adversaries (Table 1, Figures 1 and 4d).

Sheets of small pictures: named rows, and a word in the corner of each picture, as one SVG.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.picture import Picture, png
from brittle.reports.axes import CHARACTER_WIDTH, escape
from brittle.reports.cases import difference_image
from brittle.results import Result, has_adversary
from brittle_papers.natural.results import MLP, TARGETS, NaturalResults
from brittle_papers.natural.searches import HYBRID, Rows

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


MAX_COLUMNS, SHOWN_ON_MLP = 10, 3
ORIGINAL, REBUILT = "original", "G(I(x))"


def table_1(found: NaturalResults) -> tuple[str, list[str]]:
    """Draw one digit of each class with its adversaries; return the figure and its cases."""
    fgsm = found.runs("FGSM on LeNet")["fgsm"]
    forest, lenet = (found.searches(name)[HYBRID] for name in TARGETS)
    cases = _one_of_each(lenet, [fgsm, forest, lenet])
    copies = found.results["reconstructions"]["rebuilt"]
    rebuilt = [
        SheetPicture(Picture.decode(copies[lenet[case].original]).pixels)
        if lenet[case].original in copies
        else None
        for case in cases
    ]
    rows = [
        SheetRow(ORIGINAL, [_original(lenet[case]) for case in cases]),
        SheetRow(REBUILT, rebuilt),
        *(
            SheetRow(name, [_adversary(run[case]) for case in cases])
            for name, run in {
                "FGSM, LeNet": fgsm,
                "natural, forest": forest,
                "natural, LeNet": lenet,
            }.items()
        ),
    ]
    return sheet_figure(rows), cases


def figure_1(found: NaturalResults) -> str:
    """Draw digits with the changes and the adversaries of FGSM and of ours, against an MLP."""
    fgsm = found.runs("FGSM on MLP")["fgsm"]
    natural = found.runs("natural on MLP")[MLP]
    both = [case for case in natural if _is_broken(natural[case]) and _is_broken(fgsm.get(case))]
    rows = [
        SheetRow(
            "",
            [
                _original(fgsm[case]),
                _change(fgsm[case]),
                _adversary(fgsm[case]),
                _change(natural[case]),
                _adversary(natural[case]),
            ],
        )
        for case in both[:SHOWN_ON_MLP]
    ]
    return sheet_figure(rows, ["input", "FGSM Δx", "FGSM", "our Δx", "ours"])


def figure_4d(found: NaturalResults) -> tuple[str, Mapping[str, float | None]]:
    """Draw one digit with its adversaries against classifiers of growing capacity, and their Δz.

    Of the digits that were tried it is the one with adversaries against most classifiers.
    """
    runs = found.runs("one digit")
    lines = {str(c.settings["hidden"]): c.line for c in found.by_neurons}
    cases = list(runs[next(iter(lines.values()))])
    broken = {case: sum(_is_broken(runs[line][case]) for line in lines.values()) for case in cases}
    case = max(cases, key=lambda c: broken[c])
    rows = [runs[line][case] for line in lines.values()]
    shown: list[SheetPicture | None] = [_original(rows[-1])]
    shown += [_adversary(row) if _is_broken(row) else None for row in rows]
    figure = sheet_figure([SheetRow("", shown)], ["digit", *lines])
    return figure, {neurons: row.cost for neurons, row in zip(lines, rows)}


def _one_of_each(reference: Rows, runs: Sequence[Rows]) -> list[str]:
    """Return for each predicted class the first case that all runs broke."""
    chosen: dict[str, str] = {}
    for case, row in reference.items():
        if all(_is_broken(run.get(case)) for run in runs):
            chosen.setdefault(str(row.predicted), case)
    return [chosen[label] for label in sorted(chosen)][:MAX_COLUMNS]


def _is_broken(row: Result | None) -> bool:
    return row is not None and has_adversary(row)


def _original(row: Result) -> SheetPicture:
    return SheetPicture(Picture.decode(row.original).pixels, str(row.predicted))


def _adversary(row: Result) -> SheetPicture:
    pixels = Picture.decode(str(row.adversarial)).pixels
    return SheetPicture(pixels, str(row.adversarial_label), stands_out=True)


def _change(row: Result) -> SheetPicture:
    """Draw what an attack changed: blue is brighter, red is darker."""
    before, after = (Picture.decode(str(p)).pixels for p in (row.original, row.adversarial))
    return SheetPicture(difference_image(before, after))
