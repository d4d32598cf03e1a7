"""What there is: runs, attacks and data, as rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from brittle import attacks, data
from brittle.runs.run import Run, list_runs

Rows = list[dict[str, Any]]


def runs(folder: str | Path) -> Rows:
    """List the runs of a folder, newest last."""
    rows = []
    for path in list_runs(folder):
        run = Run(path)
        results = run.results()
        rows.append(
            {
                "run": run.name,
                "target": run.manifest["target"],
                "attack": run.manifest["attack"],
                "data": run.manifest["data"],
                "cases": f"{len(results)}/{run.manifest['examples']}",
                "broken": sum(result.status == "broken" for result in results),
                "started": run.manifest["started"],
            }
        )
    return rows


def attack_rows(folder: str | Path) -> Rows:
    """List the attacks by name."""
    return [
        {
            "attack": name,
            "what it does": attacks.summary(attacks.recipe(name)),
            "settings": ", ".join(s.name for s in attacks.settings(attacks.recipe(name))),
        }
        for name in attacks.ATTACKS
    ]


def data_rows(folder: str | Path) -> Rows:
    """List the catalogue."""
    return [
        {
            "data": entry.name,
            "what it is": entry.about,
            "labels": ", ".join(entry.labels),
            "package": entry.package,
            "installed": "yes" if entry.installed else "no",
        }
        for entry in data.names()
    ]


LISTS: dict[str, Callable[[str | Path], Rows]] = {
    "runs": runs,
    "attacks": attack_rows,
    "data": data_rows,
}


def table(rows: Sequence[dict[str, Any]], what: str) -> Any:
    """Make a table of the rows, or say that there are none."""
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return f"There are no {what} yet."
    made = Table(box=None, padding=(0, 2, 0, 0))
    for name in rows[0]:
        made.add_column(name, overflow="fold")
    for row in rows:
        made.add_row(*(Text(str(value)) for value in row.values()))
    return made
