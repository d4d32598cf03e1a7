"""The page of a paper: Markdown with the paper's figures beside ours, plots, and the same as JSON.

The page is written anew from the results of the tasks. A person writes into a file beside it,
NAME.notes.md: under a heading `## KEY` the explanation of that finding, and before the first
heading what stands above all findings.
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


@dataclass(frozen=True)
class Cell:
    """A value in a table, which the JSON of its row holds under `key`.

    Without a key the value itself is the JSON of the row. `text` replaces the usual format.
    """

    value: Figure | Contrast | int
    key: str = ""
    text: str | None = None

    def __str__(self) -> str:
        return format_value(self.value) if self.text is None else self.text


Row = Sequence[str | Figure | Contrast | Cell]


@dataclass
class Page:
    """A page being built: its parts in order, its plots by name, and its figures as JSON."""

    title: str
    parts: list[str] = field(default_factory=list)
    plots: dict[str, str] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)

    def add(self, *parts: str) -> None:
        """Add paragraphs, headings or tables; empty ones are left out."""
        self.parts += [part for part in parts if part]

    def add_plot(self, name: str, svg: str, description: str) -> None:
        """Add a plot, which becomes a file beside the page."""
        self.plots[name] = standalone_svg(svg)
        self.parts.append(f"![{description}]({name}.svg)")

    def add_table(self, key: str, head: Sequence[str], rows: Mapping[str, Row]) -> None:
        """Add a table, and record the values of its rows: row NAME under `key`, NAME.

        Figures and contrasts are cells without a key; texts stand only in the table.
        """
        table = []
        for name, row in rows.items():
            cells = [Cell(cell) if isinstance(cell, Figure | Contrast) else cell for cell in row]
            table.append([str(cell) for cell in cells])
            for cell in cells:
                if isinstance(cell, Cell):
                    value = to_json(cell.value)
                    self.record((key, name), {cell.key: value} if cell.key else value)
        self.add(format_table(head, table))

    def record(self, path: Sequence[str], values: Mapping[str, Any]) -> None:
        """Add values to the JSON object at a path of keys."""
        node = self.figures
        for key in path:
            node = node.setdefault(key, {})
        node.update({key: to_json(value) for key, value in values.items()})

    def text(self) -> str:
        return "\n\n".join([f"# {self.title}", *self.parts]) + "\n"


def write_page(page: Page, folder: Path, name: str) -> Path:
    """Write a page and its plots, and delete plots that only an older page had."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}-*.svg"):
        if old.stem not in page.plots:
            old.unlink()
    for plot, svg in page.plots.items():
        (folder / f"{plot}.svg").write_text(svg, "utf-8")
    file = folder / f"{name}.md"
    file.write_text(page.text(), "utf-8")
    return file


def load_notes(file: Path) -> dict[str, str]:
    """Load the notes by their heading; the text before the first heading is under ""."""
    if not file.is_file():
        return {}
    first, *rest = _HEADING.split(file.read_text("utf-8"))
    notes = {"": first, **dict(zip(rest[::2], rest[1::2]))}
    return {key: note.strip() for key, note in notes.items() if note.strip()}


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]], of_words: bool = False) -> str:
    """Format a table; columns after the first are aligned right, unless they hold words.

    >>> print(format_table(["", "paper"], [["error", "8.27%"]]))
    |  | paper |
    |---|---:|
    | error | 8.27% |
    """
    column = "|---" if of_words else "|---:"
    lines = [_line(head), "|---" + column * (len(head) - 1) + "|", *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def format_value(value: Figure | Contrast | int) -> str:
    """Format a rate, a difference of two paired rates in points, or a count.

    >>> from brittle.metrics.paired import contrast
    >>> from brittle.metrics.summary import rate
    >>> format_value(rate(8, 10, "cases")), format_value(rate(0, 0, "cases"))
    ('80.0% (49.0–94.3; 8 of 10)', '– (no case)')
    >>> format_value(contrast([(False, True)] * 9 + [(True, True)]))
    '+90.0 points (+48.8 to +98.2; n = 10, p = 0.004)'
    """
    if isinstance(value, int):
        return number(value)
    of = number(value.of)
    if isinstance(value, Contrast):
        if value.difference is None or value.low is None or value.high is None:
            return f"{NO_VALUE} (no shared case)"
        p = "p < 0.001" if value.p < 0.001 else f"p = {value.p:.3f}"
        interval = f"{100 * value.low:+.1f} to {100 * value.high:+.1f}"
        return f"{100 * value.difference:+.1f} points ({interval}; n = {of}, {p})"
    if value.value is None or value.low is None or value.high is None:
        return f"{NO_VALUE} (no case)"
    over = f"n = {of}" if value.count is None else f"{number(value.count)} of {of}"
    return f"{100 * value.value:.1f}% ({100 * value.low:.1f}–{100 * value.high:.1f}; {over})"


def to_json(value: Any) -> Any:
    """Return a figure or a contrast as a JSON object, and any other value as it is."""
    if isinstance(value, Figure):
        return {name: getattr(value, name) for name in ("value", "low", "high", "count", "of")}
    if isinstance(value, Contrast):
        return {name: getattr(value, name) for name in ("difference", "low", "high", "p", "of")}
    return value


def format_settings(pairs: Mapping[str, tuple[Any, Any]]) -> str:
    """Format a table of settings, the paper's beside ours; None is not known."""
    rows = [[name, _setting(paper), _setting(ours)] for name, (paper, ours) in pairs.items()]
    return format_table(["setting", "paper", "here"], rows, of_words=True)


def format_optimizer(settings: Mapping[str, Any]) -> str:
    """Format how a network was trained.

    >>> format_optimizer({"optimizer": "adam", "clip": 1.0}), format_optimizer({"optimizer": "sgd"})
    ('adam, gradients clipped at 1', 'sgd')
    """
    clipped = f", gradients clipped at {settings['clip']:g}" if settings.get("clip") else ""
    return f"{settings.get('optimizer', 'adam')}{clipped}"


def _setting(value: Any) -> str:
    if value is None:
        return NO_VALUE
    return f"{value:,}" if isinstance(value, int) else str(value)
