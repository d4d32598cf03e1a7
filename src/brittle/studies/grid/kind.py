"""Grids as a kind of study: how they are checked, listed, shown and exported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brittle.attacks.stored_settings import changed_settings
from brittle.formatting import attack_in_words
from brittle.studies.grid.exporting import case_rows, cell_rows
from brittle.studies.grid.row_names import split_row
from brittle.studies.grid.study import GridFacts, GridResults, GridStudy, check_grid
from brittle.studies.grid.view import grid_json, grid_view
from brittle.studies.study import Listed, StudyKind

FIXED = ("seed", "all_right", "budget", "data", "split")
"""The facts that a grid keeps under its name; it may get more attacks, targets and cases."""


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


KIND = StudyKind(
    name="grid",
    noun="grid",
    command="brittle grid",
    commands="brittle show and brittle report take grids, and brittle compare takes their runs.",
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
