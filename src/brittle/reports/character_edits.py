"""What character attacks edited: flips, inserts, deletes, and how much of the text."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.formatting import number, percent, plural
from brittle.metrics.operations import is_by_characters, operations
from brittle.reports.figures import Bar
from brittle.reports.page import Section
from brittle.reports.summary_lines import format_interval
from brittle.reports.table import Column, Table
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
