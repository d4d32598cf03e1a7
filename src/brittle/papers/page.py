"""A paper's page: Markdown with the paper's figure beside ours, and the plots beside the page.

The page is written anew from what the steps have left; what a person adds stands in a file of its
own, NAME.notes.md, and is read in: under a heading `## KEY` the explanation of that finding, and
before the first heading what is to stand above everything else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brittle.formatting import NO_VALUE, number
from brittle.metrics.paired import Contrast
from brittle.metrics.summary import Figure
from brittle.reports.standalone_svg import standalone_svg

_HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)


@dataclass
class Page:
    """A page in the making: its parts in order, its plots by name, and the figures as JSON."""

    title: str
    parts: list[str] = field(default_factory=list)
    plots: dict[str, str] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)

    def add(self, *parts: str) -> None:
        """Add paragraphs, headings or tables."""
        self.parts += [part for part in parts if part]

    def plot(self, name: str, svg: str, told: str) -> None:
        """Add a plot, which becomes a file beside the page."""
        self.plots[name] = standalone_svg(svg)
        self.parts.append(f"![{told}]({name}.svg)")

    def text(self) -> str:
        return "\n\n".join([f"# {self.title}", *self.parts]) + "\n"


def write(page: Page, folder: Path, name: str) -> Path:
    """Write a page and its plots; plots of an older page that are not there any more go."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}-*.svg"):
        if old.stem not in page.plots:
            old.unlink()
    for plot, svg in page.plots.items():
        (folder / f"{plot}.svg").write_text(svg, "utf-8")
    file = folder / f"{name}.md"
    file.write_text(page.text(), "utf-8")
    return file


def read_notes(file: Path) -> dict[str, str]:
    """Read a file of notes: what stands under each heading, and under "" what stands before."""
    if not file.is_file():
        return {}
    first, *rest = _HEADING.split(file.read_text("utf-8"))
    notes = {"": first, **dict(zip(rest[::2], rest[1::2]))}
    return {key: note.strip() for key, note in notes.items() if note.strip()}


def table(head: Sequence[str], rows: Sequence[Sequence[str]], of_words: bool = False) -> str:
    """Write a table; columns after the first read from the right, unless they are of words.

    >>> print(table(["", "paper"], [["error", "8.27%"]]))
    |  | paper |
    |---|---:|
    | error | 8.27% |
    """
    split = "|---" if of_words else "|---:"
    lines = [_row(head), "|---" + split * (len(head) - 1) + "|", *map(_row, rows)]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def percents(figure: Figure) -> str:
    """Write a rate with its interval and what it is over.

    >>> from brittle.metrics.summary import rate
    >>> percents(rate(8, 10, "cases")), percents(rate(0, 0, "cases"))
    ('80.0% (49.0–94.3; 8 of 10)', '– (no case)')
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return f"{NO_VALUE} (no case)"
    over = f"n = {number(figure.of)}"
    if figure.count is not None:
        over = f"{number(figure.count)} of {number(figure.of)}"
    return f"{100 * figure.value:.1f}% ({100 * figure.low:.1f}–{100 * figure.high:.1f}; {over})"


def points(contrast: Contrast) -> str:
    """Write a difference of two paired rates, in points, with its interval, cases and p.

    >>> from brittle.metrics.paired import contrast
    >>> points(contrast([(False, True)] * 9 + [(True, True)]))
    '+90.0 points (+48.8 to +98.2; n = 10, p = 0.004)'
    """
    if contrast.difference is None or contrast.low is None or contrast.high is None:
        return f"{NO_VALUE} (no shared case)"
    p = "p < 0.001" if contrast.p < 0.001 else f"p = {contrast.p:.3f}"
    within = f"{100 * contrast.low:+.1f} to {100 * contrast.high:+.1f}"
    return f"{100 * contrast.difference:+.1f} points ({within}; n = {number(contrast.of)}, {p})"


def error_rate(figure: Figure) -> Figure:
    """Turn an accuracy into an error rate.

    >>> from brittle.metrics.summary import rate
    >>> error_rate(rate(8, 10, "cases")).count
    2
    """
    if figure.value is None or figure.low is None or figure.high is None or figure.count is None:
        return figure
    count = figure.of - figure.count
    return Figure(count / figure.of, 1 - figure.high, 1 - figure.low, count, figure.of, figure.over)


def as_json(figure: Figure) -> dict[str, Any]:
    """Give a figure as JSON holds it."""
    return {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "count": figure.count,
        "of": figure.of,
    }


def contrast_as_json(contrast: Contrast) -> dict[str, Any]:
    """Give a difference as JSON holds it."""
    return {
        "difference": contrast.difference,
        "low": contrast.low,
        "high": contrast.high,
        "p": contrast.p,
        "of": contrast.of,
    }


def settings_table(pairs: Mapping[str, tuple[Any, Any]]) -> str:
    """Write what differs: the paper's setting beside ours, where both are known."""
    rows = [[what, _shown(theirs), _shown(ours)] for what, (theirs, ours) in pairs.items()]
    return table(["setting", "paper", "here"], rows, of_words=True)


def _shown(value: Any) -> str:
    if value is None:
        return NO_VALUE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
