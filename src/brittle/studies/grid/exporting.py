"""The rows of a grid for other programs: one a cell, or one a case of a cell."""

from __future__ import annotations

from typing import Any

from brittle.studies.grid.figures import mean_queries, success
from brittle.studies.grid.study import GridStudy
from brittle.text import Text


def cell_rows(study: GridStudy) -> list[dict[str, Any]]:
    """Return one row for every attack and target; an empty cell has no figures."""
    rows: list[dict[str, Any]] = []
    for attack in study.attacks:
        for target in study.targets:
            cell = study.cells[attack].get(target.name)
            figure = None if cell is None else success(cell)
            rows.append(
                {"attack": attack, "target": target.name}
                | {name: getattr(figure, name, None) for name in ("value", "low", "high", "count")}
                | {"of": 0 if figure is None else figure.of}
                | {"queries": None if cell is None else mean_queries(cell)}
                | {name: getattr(cell, name, None) for name in ("asked", "sent", "run")}
            )
    return rows


def case_rows(study: GridStudy) -> list[dict[str, Any]]:
    """Return one row for every case of every cell, with the text before and after the attack."""
    cases = {case.case: case for case in study.cases}
    return [
        {
            "attack": attack,
            "target": target,
            "case": row.case,
            "label": cases[row.case].label,
            "status": row.status,
            "reason": row.reason,
            "queries": row.queries,
            "tried": row.tried,
            "won": row.won,
            "original": Text.of(dict(cases[row.case].fields)).render(),
            "adversarial": row.adversarial and Text.of(dict(row.adversarial)).render(),
        }
        for attack, by_target in study.cells.items()
        for target, cell in by_target.items()
        for row in cell.rows
    ]
