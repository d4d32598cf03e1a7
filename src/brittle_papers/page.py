"""The page of a paper: Markdown with the paper's figures beside ours, plots, and the same as JSON.

The page is written anew from the results of the tasks. A person writes into a file beside it,
NAME.notes.md: under a heading `## KEY` why that finding does not agree, and before the first
heading what stands above all findings. Figures stand there by name, as {TABLE/ROW/COLUMN}.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from brittle.edits import diff_strings, patch
from brittle.errors import unknown
from brittle.metrics.paired import Contrast
from brittle.metrics.summary import Figure
from brittle.reports.plots import standalone_svg
from brittle.results import Result
from brittle.safety.files import write_whole
from brittle_papers.claims import format_mean, format_value
from brittle_papers.spec import PaperSpec

_FIGURE = re.compile(r"\{([^{}\n]+)\}")
_HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class TableCell:
    """A value in a table, which the JSON of its row holds under `key`.

    Without a key the value itself is the JSON of the row. `text` replaces the usual format.
    """

    value: Figure | Contrast | int
    key: str = ""
    text: str | None = None

    def __str__(self) -> str:
        return format_value(self.value) if self.text is None else self.text


def mean_cell(value: Figure, key: str = "") -> TableCell:
    """Return a cell for a mean that is no share."""
    return TableCell(value, key, format_mean(value))


Row = Sequence[str | Figure | Contrast | TableCell]


@dataclass
class PaperPage:
    """A page being built: its parts in order, its plots by name, and its figures as JSON.

    `spec` has the words around them, `values` what these may name in braces. `texts` holds the
    figures as the tables show them, by TABLE/ROW/COLUMN, for the notes.
    """

    spec: PaperSpec
    values: Any = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    plots: dict[str, str] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, *parts: str) -> None:
        """Add paragraphs, headings or tables; empty ones are left out."""
        self.parts += [part for part in parts if part]

    def add_section(self, key: str, **values: Any) -> None:
        """Add the paragraphs of paper.toml by their key, with values put in."""
        words = ChainMap(values, self.values)
        self.add(self.spec.sections[key].format_map(words).strip())

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
            cells = [
                TableCell(cell) if isinstance(cell, Figure | Contrast) else cell for cell in row
            ]
            table.append([str(cell) for cell in cells])
            for cell in cells:
                if isinstance(cell, TableCell):
                    value = to_json(cell.value)
                    self.record((key, name), {cell.key: value} if cell.key else value)
                    self.texts["/".join(filter(None, (key, name, cell.key)))] = str(cell)
        self.add(format_table(head, table))

    def record(self, path: Sequence[str], values: Mapping[str, Any]) -> None:
        """Add values to the JSON object at a path of keys."""
        node = self.figures
        for key in path:
            node = node.setdefault(key, {})
        node.update({key: to_json(value) for key, value in values.items()})

    def fill(self, note: str) -> str:
        """Put the figures that a note names as {TABLE/ROW/COLUMN} into it."""

        def figure(name: re.Match[str]) -> str:
            if name[1] not in self.texts:
                raise unknown("figure in the notes", name[1], self.texts)
            return self.texts[name[1]]

        return _FIGURE.sub(figure, note)

    def text(self) -> str:
        return "\n\n".join([f"# {self.spec.title}", *self.parts]) + "\n"


def write_page(page: PaperPage, folder: Path, name: str) -> Path:
    """Write a page and its plots, and delete plots that only an older page of this name had.

    Names of papers begin alike, so that plots of other pages are found, too: they stay.
    """
    folder.mkdir(parents=True, exist_ok=True)
    others = [f.read_text("utf-8") for f in folder.glob("*.md") if f.name != f"{name}.md"]
    for old in folder.glob(f"{name}-*.svg"):
        if old.stem not in page.plots and not any(f"({old.name})" in text for text in others):
            old.unlink()
    for plot, svg in page.plots.items():
        write_whole(folder / f"{plot}.svg", svg)
    file = folder / f"{name}.md"
    write_whole(file, page.text())
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


def format_examples(examples: Mapping[str, str], rows: Sequence[Result]) -> str:
    """Format the paper's adversarial texts beside what an attack made of the same originals."""
    lines = [[paper, _example(row)] for paper, row in zip(examples.values(), rows, strict=True)]
    return format_table(["paper", "here"], lines, of_words=True)


def _example(row: Result) -> str:
    if row.status != "broken":
        reason = f" ({row.reason})" if row.reason else ""
        return f"{row.original} *{row.status}{reason}: {row.confidence or 0:.0%} {row.predicted}*"
    edits = [replace(edit, new=f"**{edit.new}**") for edit in row.edits]
    changed = " ".join(patch(dict(row.fields), edits).values())
    before = f"{row.confidence or 0:.0%} {row.predicted}"
    after = f"{row.adversarial_confidence or 0:.0%} {row.adversarial_label}"
    return f"{changed} *{before} → {after}*"


def format_edits(before: str, after: str) -> str:
    """Format a text with what was replaced struck out, and its replacement in bold.

    >>> format_edits("a dog runs", "a dog sits"), format_edits("a big dog", "a dog")
    ('a dog ~~runs~~ **sits**', 'a ~~big~~ dog')
    """
    parts, start = [], 0
    for edit in diff_strings(before, after):
        marked = filter(None, (_mark(edit.old, "~~"), _mark(edit.new, "**")))
        parts += [before[start : edit.start], " ".join(marked)]
        start = edit.start + len(edit.old)
    return "".join([*parts, before[start:]])


def _mark(text: str, mark: str) -> str:
    """Put marks around a text; Markdown allows no blanks inside of them."""
    words = text.strip()
    return text.replace(words, f"{mark}{words}{mark}") if words else text


def to_json(value: Any) -> Any:
    """Return a figure or a contrast as a JSON object, and any other value as it is."""
    if isinstance(value, Figure):
        return {name: getattr(value, name) for name in ("value", "low", "high", "count", "of")}
    if isinstance(value, Contrast):
        return {name: getattr(value, name) for name in ("difference", "low", "high", "p", "of")}
    return value
