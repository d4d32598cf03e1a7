"""What breaks a target: edited characters, words, parts of speech, and labels that change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brittle.formatting import number, percent, plural
from brittle.metrics.grid import Confusion, Matrix
from brittle.metrics.words import (
    MOST_TAGGED,
    BrokenWord,
    is_by_characters,
    operations,
    parts_that_break,
    words_that_break,
)
from brittle.reports.figures import Bar
from brittle.reports.page import Section
from brittle.reports.summary_lines import format_interval
from brittle.reports.table import Cell, Column, Table
from brittle.results import Result

COLUMNS = (
    Column("operation", isolate=False),
    Column("count", "right", number),
    Column("", key="bar"),
    Column("share", "right", percent),
)


def character_edits_section(results: Sequence[Result]) -> Section | None:
    """Show the operations of a character attack; nothing for attacks that replace words."""
    if not is_by_characters(results):
        return None
    edits = operations(results)
    rows = [(name, edits.counts[name], Bar(share), share) for name, share in edits.shares.items()]
    shown = {
        "table": Table(COLUMNS, rows, css="parts"),
        "value": percent(edits.share.value),
        "interval": format_interval(edits.share, percent),
        "over": plural(edits.share.of, edits.share.over),
    }
    return Section("run_parts.edited", shown, "What was edited")


MAX_WORDS = 15
MIN_CASES = 3
"""Words that were changed in fewer cases are not listed."""
MAX_REPLACEMENTS = 4
MAX_LABELS = 12
MIN_STACKED_LABELS = 6  # two such tables beside each other would be cut
MAX_CONFUSIONS = 20
MAX_CHARACTERS = 40


@dataclass(frozen=True)
class ShownWord:
    """A word that was changed in broken cases, with what replaced it how often."""

    word: str
    count: int
    seen: int
    became: Sequence[tuple[str, int]]
    more: int

    @property
    def share(self) -> float:
        """The share of the cases that contain it."""
        return self.count / self.seen if self.seen else 0.0


def breaks_section(results: Sequence[Result]) -> Section | None:
    """List the words changed most often in broken cases, and the parts of speech.

    A word that was changed in one or two cases says nothing of words: it is only counted.
    """
    words = words_that_break(results)
    if not words:
        return None
    often = [word for word in words if word.count >= MIN_CASES]
    parts = [(part.name, part.count, part.of) for part in parts_that_break(results)]
    is_cut = sum(of for _, _, of in parts) >= MOST_TAGGED
    shown = {
        "words": [_shown_word(word) for word in often[:MAX_WORDS]],
        "others": _words_left_out(len(often) - MAX_WORDS, len(words) - len(often)),
        "parts": shares_table("part", "changed", parts),
        "tagged": f"The first {plural(MOST_TAGGED, 'words')}" if is_cut else "Words",
    }
    return Section("run_parts.breaks", shown, "What breaks it")


def shares_table(what: str, counted: str, rows: Sequence[tuple[str, int, int]]) -> Table:
    """Build a table of counts, each of how many, with its share as a bar and as a number."""
    columns = (
        Column(what, isolate=False),
        Column(counted, "right", number),
        Column("", key="bar"),
        Column("share", "right", percent),
    )
    shares = [count / of if of else 0.0 for _, count, of in rows]
    cells = [
        (name, Cell(count, small=(f" of {number(of)}",)), Bar(share, percent(share)), share)
        for (name, count, of), share in zip(rows, shares)
    ]
    return Table(columns, cells, css="parts")


def confusion_section(tables: Confusion) -> Section:
    """Show both confusion tables, or, with many labels, the confusions that grew most."""
    labels = tables.labels
    if len(labels) > MAX_LABELS:
        below = f"{plural(len(labels), 'labels')}: the {MAX_CONFUSIONS} confusions that grew most."
        css, shown = "", [("", _grown_table(tables), below)]
    else:
        css = "pair stacked" if len(labels) >= MIN_STACKED_LABELS else "pair"
        matrices = (("before", tables.before), ("under attack", tables.after))
        shown = [(name, _matrix(labels, matrix), "") for name, matrix in matrices]
    about = {"css": css, "tables": shown, "over": plural(tables.of, "examples answered")}
    return Section("run_parts.confusion", about, "Confusion matrix")


def _words_left_out(more: int, rare: int) -> str:
    """Say how many words the table leaves out, and why."""
    sentences = []
    if more > 0:
        sentences.append(f"{plural(more, ('more word was', 'more words were'))} changed as well.")
    if rare:
        rare_words = plural(rare, ("word that was", "words that were"))
        sentences.append(
            f"{rare_words} changed in fewer than {plural(MIN_CASES, 'cases')}: not listed."
        )
    return " ".join(sentences)


def _shown_word(broken: BrokenWord) -> ShownWord:
    became = [(_cut(new), count) for new, count in broken.replacements[:MAX_REPLACEMENTS]]
    more = max(0, len(broken.replacements) - MAX_REPLACEMENTS)
    return ShownWord(_cut(broken.word), broken.count, broken.seen, became, more)


def _cut(word: str) -> str:
    return word if len(word) <= MAX_CHARACTERS else word[: MAX_CHARACTERS - 2] + "…"


def _matrix(labels: Sequence[str], matrix: Matrix) -> Table:
    rows = []
    for i, (label, row) in enumerate(zip(labels, matrix)):
        total = sum(row)
        cells = [
            Cell(
                count,
                css=f"{'right' if i == j else 'wrong'} heat-{_heat(count, total)}",
                title=_cell_value(count, total, label, labels[j]),
            )
            for j, count in enumerate(row)
        ]
        rows.append([_cut(label), *cells])
    columns = [Column(_cut(label), "right", number, css="", is_name=True) for label in labels]
    return Table([Column(), *columns], rows, css="confusion", corner=True)


def _cell_value(count: int, total: int, label: str, predicted: str) -> str:
    """Write what a cell says on hover: its share of the row."""
    share = f" ({percent(count / total)})" if total else ""
    return f"{number(count)} of {number(total)} {_cut(label)}{share} predicted {_cut(predicted)}"


def _heat(count: int, total: int) -> int:
    """Return a cell's share of its row in tenths, at least 1 unless the cell is empty."""
    return max(1, round(10 * count / total)) if count else 0


def _grown_table(tables: Confusion) -> Table:
    """Show the confusions that grew most under attack."""
    pairs = [
        (after - before, before, after, tables.labels[i], tables.labels[j])
        for i, (old, new) in enumerate(zip(tables.before, tables.after))
        for j, (before, after) in enumerate(zip(old, new))
        if i != j and before + after
    ]
    pairs.sort(key=lambda pair: (-pair[0], -pair[2], pair[3], pair[4]))
    numbers = [Column(name, "right", number) for name in ("before", "under attack")]
    return Table(
        [Column("reference"), Column("predicted"), *numbers],
        [
            (_cut(label), _cut(predicted), before, after)
            for _, before, after, label, predicted in pairs[:MAX_CONFUSIONS]
        ],
    )
