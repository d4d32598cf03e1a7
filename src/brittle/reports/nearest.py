"""The section on the nearest words of edited words; it needs a target, not only the store."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.reports.page import Section

Row = tuple[str, str, Sequence[str], Sequence[str]]
"""A word, its edited form, and the words nearest to each, the nearest first."""


def nearest_section(rows: Sequence[Row], layer: str) -> Section | None:
    """Show the nearest words of each word beside those of its edited form."""
    if not rows:
        return None
    shown = {"rows": rows, "layer": layer}
    return Section("run_parts.nearest", shown, "What edited words look like to the target")
