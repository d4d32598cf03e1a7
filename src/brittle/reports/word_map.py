"""A heat map of words: coloured cells with a word over each column and a name before each row."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.reports.axes import CHARACTER_WIDTH
from brittle.reports.escaping import escape

MAX_CHARACTERS = 14
CELL = 20
Cell = tuple[float | None, str]
"""A share from 0 to 1, which the colour shows, and the words under the pointer."""


def cell(value: float | None, highest: float, title: str) -> Cell:
    """Return the cell of a value, which has the full colour if it is the highest."""
    return (None if value is None else value / highest if highest else 0.0), title


def heat_map(
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[Cell]]],
    marked_columns: Sequence[int] = (),
    marked_rows: Sequence[int] = (),
) -> str:
    """Draw shares as coloured cells, in natural size; marked columns and rows have a frame."""
    heads, names = [_cut(name) for name in columns], [_cut(name) for name, _ in rows]
    left = round(16 + 1.1 * CHARACTER_WIDTH * max(map(len, names), default=0))
    top = round(18 + 0.85 * CHARACTER_WIDTH * max(map(len, heads), default=0))
    overhang = round(0.85 * CHARACTER_WIDTH * len(heads[-1])) if heads else 0
    width, height = left + CELL * len(heads) + overhang + 4, top + CELL * len(rows) + 4
    parts = [
        f'<svg class="map" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(_description(rows))}">'
    ]
    for n, name in enumerate(heads):
        turned = f"translate({left + CELL * (n + 0.6):.0f} {top - 6}) rotate(-50)"
        parts.append(
            f'<text transform="{turned}"{_bold(n in marked_columns)}>{escape(name)}</text>'
        )
    for row, ((_, cells), name) in enumerate(zip(rows, names)):
        y = top + CELL * row
        parts.append(
            f'<text x="{left - 8}" y="{y + 14}" text-anchor="end"{_bold(row in marked_rows)}>'
            f"{escape(name)}</text>"
        )
        for n, (share, title) in enumerate(cells):
            shape = f'x="{left + CELL * n}" y="{y}" width="{CELL - 1}" height="{CELL - 1}"'
            colour = (
                'class="track"' if share is None else f'class="fill" fill-opacity="{share:.2f}"'
            )
            parts.append(f"<rect {colour} {shape}><title>{escape(title)}</title></rect>")
    tall, wide = CELL * len(rows), CELL * len(heads)
    parts += [
        f'<rect class="frame" x="{left + CELL * n}" y="{top}" width="{CELL - 1}" height="{tall}"/>'
        for n in marked_columns
    ]
    parts += [
        f'<rect class="frame" x="{left}" y="{top + CELL * n}" width="{wide}" height="{CELL - 1}"/>'
        for n in marked_rows
    ]
    return "".join([*parts, "</svg>"])


def _bold(is_marked: bool) -> str:
    return ' class="heading"' if is_marked else ""


def _description(rows: Sequence[tuple[str, Sequence[Cell]]]) -> str:
    strongest = []
    for _, cells in rows:
        values = [(share, title) for share, title in cells if share is not None]
        if values:
            strongest.append(max(values)[1])
    return f"Heat map; the strongest cell of every row: {'; '.join(strongest)}"


def _cut(name: str) -> str:
    return name if len(name) <= MAX_CHARACTERS else name[: MAX_CHARACTERS - 1] + "…"
