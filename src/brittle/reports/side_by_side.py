"""Two runs side by side as a page: their figures, and the cases whose outcome changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brittle.reports.comparison import comparison_tables
from brittle.reports.page import still_page
from brittle.reports.stored import StoredRun
from brittle.reports.table import Table
from brittle.results import Result

TITLE = "Cases whose outcome changed"


def side_by_side_page(old: StoredRun, new: StoredRun) -> str:
    """Return the page of two runs: figures of both, the paired test, and the changed cases."""
    parts: list[Any] = [table.html() for table in comparison_tables([old, new])]
    changed = changed_cases(old.results(), new.results())
    parts.append(Table.of(_rows(changed, old.name, new.name), title=TITLE).html())
    return still_page(f"{old.name} and {new.name}", parts)


def changed_cases(old: Sequence[Result], new: Sequence[Result]) -> list[tuple[Result, Result]]:
    """Return the cases of both runs that ended with another status, in the order of the old run."""
    later = {row.case: row for row in new}
    pairs = ((row, later[row.case]) for row in old if row.case in later)
    return [(before, after) for before, after in pairs if before.status != after.status]


def _rows(changed: Sequence[tuple[Result, Result]], old: str, new: str) -> list[dict[str, Any]]:
    return [
        {
            "case": before.case,
            "text": before.original,
            old: before.status,
            new: after.status,
            "adversarial text": after.adversarial or before.adversarial,
        }
        for before, after in changed
    ] or [{"case": "none"}]
