"""From the results of the tasks to a grid, with what is empty in it and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.data import case_ids
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.studies.grid.cases import ChosenCases
from brittle.studies.grid.member_tasks import REFUSED
from brittle.studies.grid.request import GridRequest
from brittle.studies.grid.study import (
    GridCase,
    GridCell,
    GridFacts,
    GridResults,
    GridStudy,
    cell_of,
)
from brittle.studies.pools import Member
from brittle.studies.study import Study
from brittle.studies.transfer.member_tasks import attack_name, open_name
from brittle.studies.transfer.texts import locked_fields
from brittle.workflow.tasks import FAILED


def opened_labels(
    members: Sequence[Member], results: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    """Return the labels of every member that could be opened; none is an error."""
    opened = {member.name: results[open_name(member.spec)] for member in members}
    labels = {
        name: tuple(result["labels"]) for name, result in opened.items() if "labels" in result
    }
    if not labels:
        reasons = [result[FAILED] for result in opened.values()]
        raise UsageError(f"No target could be opened. The first: {reasons[0]}")
    return labels


def assemble(request: GridRequest, chosen: ChosenCases, results: Mapping[str, Any]) -> GridStudy:
    """Build the study from the results of all tasks."""
    examples = chosen.dataset.examples
    cells: dict[str, dict[str, GridCell]] = {attack.row: {} for attack in request.attacks}
    refusals: dict[str, str] = {}
    warnings: dict[str, None] = dict.fromkeys(_too_few(request, chosen))
    for member in request.targets:
        stored = results.get(attack_name(member.spec), {}).get("cells", {})
        for row in cells:
            cell = stored.get(row, {})
            if "run" in cell:
                cells[row][member.name] = cell_of(cell)
            elif REFUSED in cell:
                refusals[f"{row} on {member.name}"] = cell[REFUSED]
            warnings |= dict.fromkeys(f"{member.name}: {w}" for w in cell.get("warnings", ()))
    return Study(
        "grid",
        request.name,
        facts_of(request),
        GridResults(
            request.targets,
            tuple(
                GridCase(case, str(example.label), example.fields)
                for case, example in zip(case_ids(examples), examples)
            ),
            chosen.scored,
            chosen.right,
            cells,
            refusals,
        ),
        _failures(request.targets, results),
        tuple(warnings),
    )


def facts_of(request: GridRequest) -> GridFacts:
    """Return what a grid is about."""
    return GridFacts(
        pool=request.pool,
        data=request.dataset.name,
        split=request.dataset.split,
        seed=request.seed,
        limit=request.limit,
        all_right=request.all_right,
        budget=request.budget,
        attacks=tuple(attack.row for attack in request.attacks),
        settings={attack.row: dict(attack.settings) for attack in request.attacks},
        locked=locked_fields(request.dataset),
    )


def _failures(members: Sequence[Member], results: Mapping[str, Any]) -> dict[str, str]:
    """Tell by target why cells of it are empty: the first of its tasks that failed."""
    reasons = {}
    for member in members:
        own = [name for name in results if name.endswith(f" {member.spec}")]
        failed = [results[name][FAILED] for name in own if FAILED in results[name]]
        if failed:
            reasons[member.name] = failed[0]
    return reasons


def _too_few(request: GridRequest, chosen: ChosenCases) -> list[str]:
    cases, limit = len(chosen.dataset), request.limit
    if cases >= limit:
        return []
    right = "that all targets get right " if request.all_right else ""
    return [
        f"There are only {plural(cases, 'cases')} {right}among {plural(chosen.scored, 'texts')} "
        f"of {request.dataset.name!r}, not {limit:,} as asked for: the intervals are wider."
    ]
