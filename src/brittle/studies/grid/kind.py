"""Grids as a kind of study: how they are checked, listed, shown and exported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from brittle.attacks import changed_settings
from brittle.formatting import attack_in_words
from brittle.studies.grid.study import (
    GridCell,
    GridFacts,
    GridResults,
    GridStudy,
    PairedTest,
    accuracy_by_target,
    best_by_target,
    check_grid,
    mean_queries,
    paired_tests,
    skipped,
    split_row,
    success,
)
from brittle.studies.grid.view import grid_view, shown_facts
from brittle.studies.study import Listed, StudyKind
from brittle.text import Text

FIXED = ("seed", "all_right", "budget", "data", "split")
"""The facts of a grid that cannot change; attacks, targets and cases can be added."""


def _fixed(facts: GridFacts) -> Mapping[str, Any]:
    return {name: getattr(facts, name) for name in FIXED} | dict(facts.settings)


def _listed(study: GridStudy) -> Listed:
    settings, results = study.facts.settings, study.results
    attacks = (attack_in_words(row, settings[row]) for row in study.facts.attacks)
    return Listed(", ".join(attacks), len(results.cases), len(results.targets))


def _present(study: GridStudy) -> GridStudy:
    """Name the settings of a grid as they are called now."""
    settings = {
        row: changed_settings(split_row(row)[0], own) for row, own in study.facts.settings.items()
    }
    return study.changed(settings=settings)


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


def grid_json(study: GridStudy) -> dict[str, Any]:
    """Return the figures of a grid for programs; an empty cell is null."""
    facts, results = study.facts, study.results
    return {
        "study": study.name,
        "kind": study.kind,
        **shown_facts(study),
        "attacks": facts.attacks,
        "targets": [target.name for target in results.targets],
        "cases": len(results.cases),
        "scored": results.scored,
        "all_right": facts.all_right,
        "cells": [
            {"attack": attack, "target": target.name}
            | _cell_json(results.cells[attack].get(target.name))
            for attack in facts.attacks
            for target in results.targets
        ],
        "best": {
            target: {"attack": attack, **asdict(figure)}
            for target, (attack, figure) in best_by_target(study).items()
        },
        "accuracy": {
            target: asdict(figure) for target, figure in accuracy_by_target(study).items()
        },
        "pairs": list(map(_pair_json, paired_tests(study))),
        "failures": dict(study.failures),
        "refusals": dict(results.refusals),
        "warnings": list(study.warnings),
    }


def _cell_json(cell: GridCell | None) -> dict[str, Any]:
    if cell is None:
        return {"success": None}
    return {
        "success": asdict(success(cell)),
        "skipped": dict(skipped(cell)),
        "queries": mean_queries(cell),
        "sent": cell.sent,
        "run": cell.run,
    }


def _pair_json(row: PairedTest) -> dict[str, Any]:
    both = {name: getattr(row.contrast, name, None) for name in ("only_a", "only_b", "p")}
    own = asdict(row)
    del own["contrast"]
    return own | both | {"p_holm": own.pop("p_holm")}


KIND = StudyKind(
    name="grid",
    noun="grid",
    command="brittle study grid",
    commands="Use brittle show or brittle report for grids, and brittle compare for their runs.",
    facts=GridFacts,
    results=GridResults,
    check=check_grid,
    fixed=_fixed,
    members=lambda study: [target.name for target in study.targets],
    listed=_listed,
    rows=cell_rows,
    text_rows=case_rows,
    summary=grid_json,
    view=grid_view,
    present=_present,
)
