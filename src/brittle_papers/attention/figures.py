"""Figures of what an attack did inside a target, as SVG: attention as bars, changes as maps."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.inside.measures import InsideCase, change_by_distance, distance_name
from brittle.inside.section import strongest_rows
from brittle.reports.axes import CHARACTER_WIDTH, escape
from brittle.reports.importance import importance_figure

WIDTH = 560
ROW_HEIGHT, BAR_HEIGHT = 32, 10
PANEL_TOP, PANEL_GAP = 34, 14
MAX_ROWS = 24
MAX_COLUMNS = 24
MAX_CHARACTERS = 26
NUMBER_WIDTH = 48
BOLD = 1.35  # how much wider the letters of edited words are

Panel = tuple[str, InsideCase]
"""A heading, and the case whose attention is shown under it."""


def attention_figure(panels: Sequence[Panel]) -> str:
    """Draw what the summary position gives each word, before and after, a panel a case.

    An edited word stands as old → new, in bold. All panels have the same scale. A case without
    attention is left out; without any, there is no figure.
    """
    shown = [(title, case) for title, case in panels if case.before.summary and case.after.summary]
    if not shown:
        return ""
    rows = [(title, _rows(case)) for title, case in shown]
    widths = [len(name) * (BOLD if bold else 1) for _, lines in rows for name, _, bold in lines]
    left = 16 + round(1.05 * CHARACTER_WIDTH * max(widths))
    highest = max((v for _, lines in rows for _, values, _ in lines for v in values), default=0)
    heights = [PANEL_TOP + ROW_HEIGHT * len(lines) + PANEL_GAP for _, lines in rows]
    height = 26 + sum(heights)
    titles = "; ".join(title for title, _ in rows)
    parts = [
        f'<svg class="plot" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Attention to '
        f'every word before and after: {escape(titles)}">',
        *_legend(left),
    ]
    top = 26
    for (title, lines), used in zip(rows, heights):
        parts.append(f'<text class="heading" x="8" y="{top + 20}">{escape(title)}</text>')
        for n, line in enumerate(lines):
            parts += _line(line, left, top + PANEL_TOP + ROW_HEIGHT * n, highest or 1.0)
        top += used
    return "".join([*parts, "</svg>"])


Line = tuple[str, tuple[float, float], bool]
"""A word, its weights before and after, and whether it was edited."""


def _rows(case: InsideCase) -> list[Line]:
    before, after = case.before, case.after
    assert before.summary is not None and after.summary is not None
    lines: list[Line] = []
    for old, new in strongest_rows(case, MAX_ROWS):
        words = [
            *([] if old is None else [before.words[old]]),
            *([] if new is None else [after.words[new]]),
        ]
        name = " → ".join(dict.fromkeys(words))
        weights = (
            0.0 if old is None else before.summary[old],
            0.0 if new is None else after.summary[new],
        )
        lines.append((_cut(name), weights, len(set(words)) > 1 or None in (old, new)))
    if before.elsewhere is not None and after.elsewhere is not None:
        lines.append(("(elsewhere)", (before.elsewhere, after.elsewhere), False))
    return lines


def _line(line: Line, left: int, y: int, highest: float) -> list[str]:
    name, weights, is_edited = line
    bold = ' class="heading"' if is_edited else ""
    parts = [f'<text{bold} x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>']
    room = WIDTH - left - NUMBER_WIDTH
    for n, weight in enumerate(weights):
        top = y + (BAR_HEIGHT + 2) * n
        width = max(1.0, room * weight / highest)
        parts.append(
            f'<rect class="fill tone-{n}" x="{left}" y="{top}" width="{width:.1f}" '
            f'height="{BAR_HEIGHT}"/>'
            f'<text x="{left + width + 5:.1f}" y="{top + 9}">{weight:.3f}</text>'
        )
    return parts


def _legend(left: int) -> list[str]:
    return [
        f'<rect class="fill tone-{n}" x="{left + 100 * n}" y="8" width="14" height="12"/>'
        f'<text x="{left + 100 * n + 20}" y="18">{name}</text>'
        for n, name in enumerate(("before", "after"))
    ]


def change_figure(case: InsideCase, layers: Sequence[str], title: str) -> str:
    """Draw the change of every word's vector (L2) layer by layer; edited words are in brackets.

    Of a long text the words around the first edit are shown.
    """
    columns = list(range(len(case.pairs)))
    if len(columns) > MAX_COLUMNS:
        edited = [n for n, (_, after) in enumerate(case.pairs) if after in case.edited]
        middle = edited[0] if edited else 0
        start = max(0, min(middle - MAX_COLUMNS // 2, len(columns) - MAX_COLUMNS))
        columns = columns[start : start + MAX_COLUMNS]
    words = [
        f"[{case.after.words[after]}]" if after in case.edited else case.after.words[after]
        for _, after in (case.pairs[n] for n in columns)
    ]
    rows = [
        (layer, [changes[n] or 0.0 for n in columns])
        for layer, changes in zip(layers, case.changes)
    ]
    about = f"{title}: L2 change of every word's vector. Rows are layers, columns are words."
    return importance_figure(words, rows, title, about)


def distance_figure(cases: Sequence[InsideCase], layers: Sequence[str], title: str) -> str:
    """Draw the mean change of a word's vector by layer and by its distance from the edit."""
    by_layer = change_by_distance(cases, layers)
    columns = sorted({distance for layer in by_layer.values() for distance in layer})
    rows = []
    for layer in layers:
        figures = [by_layer[layer].get(distance) for distance in columns]
        rows.append((layer, [(f.value if f else 0.0) or 0.0 for f in figures]))
    about = f"{title}: mean L2 change of a word's vector. Rows are layers, columns are distances."
    return importance_figure([distance_name(d) for d in columns], rows, title, about)


def _cut(name: str) -> str:
    return name if len(name) <= MAX_CHARACTERS else name[: MAX_CHARACTERS - 1] + "…"
