"""The words nearest to a word, before an edit and after it: a section, and the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.console import Group

from brittle.formatting import plural
from brittle.reports.page import Section
from brittle.reports.table import Column, Table

Row = tuple[str, str, Sequence[str], Sequence[str]]
"""A word, its edited form, and the words nearest to each, the nearest first."""


def nearest_section(rows: Sequence[Row], layer: str) -> Section | None:
    """Show the nearest words of each word beside those of its edited form."""
    if not rows:
        return None
    shown = {"rows": rows, "layer": layer}
    return Section("run_parts.nearest", shown, "What edited words look like to the target")


class NearbyWord(Protocol):
    """A word near another one."""

    @property
    def word(self) -> str: ...

    @property
    def cosine(self) -> float: ...


class ChangedWord(Protocol):
    """A word, its edited form, and the words near both; `rank` counts those nearer than it."""

    @property
    def word(self) -> str: ...

    @property
    def edited(self) -> str: ...

    @property
    def cosine(self) -> float: ...

    @property
    def rank(self) -> int: ...

    @property
    def before(self) -> Sequence[NearbyWord]: ...

    @property
    def after(self) -> Sequence[NearbyWord]: ...


def neighbours_block(word: str, near: Sequence[NearbyWord], about: str) -> Group:
    """Show the nearest words of a word."""
    return Group(about, _neighbours((word, near)))


def changes_block(changes: Sequence[ChangedWord], about: str, is_run: bool) -> Group:
    """Show one edit with its neighbours side by side, or the edits of a run as a table."""
    if is_run:
        rows = [
            {
                "edit": f"{change.word} → {change.edited}",
                "nearest before": ", ".join(n.word for n in change.before),
                "nearest after": ", ".join(n.word for n in change.after),
                "nearer than the original": plural(change.rank, "words"),
            }
            for change in changes
        ]
        return Group(about, Table.of(rows, keeps_words=True))
    (change,) = changes
    words = plural(change.rank, ("word is", "words are"))
    nearer = f"{words} nearer to {change.edited} than {change.word} is"
    table = _neighbours((change.word, change.before), (change.edited, change.after))
    return Group(about, table, f"{nearer} (cosine {change.cosine:.3f}).")


def _neighbours(*words: tuple[str, Sequence[NearbyWord]]) -> Table:
    """Show the nearest words of one or more words side by side."""
    columns: list[Column] = []
    for word, _ in words:
        columns.append(Column(word, fold=True, is_name=True))
        columns.append(Column("cosine", "right", "{:.3f}".format, style="dim"))
    near = zip(*(neighbours for _, neighbours in words))
    return Table(columns, [[v for n in row for v in (n.word, n.cosine)] for row in near])
