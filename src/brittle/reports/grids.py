"""Runs as a grid: the accuracy of every target under every attack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.formatting import percent, plural
from brittle.metrics.grid import AttackedTarget, Grid, grid
from brittle.metrics.summary import Figure
from brittle.reports.stored import StoredRun
from brittle.reports.summary_lines import format_interval
from brittle.reports.table import Cell, Column, Table


def grid_of(runs: Sequence[StoredRun]) -> Grid:
    """Arrange stored runs in a grid, each named by its target and attack.

    Where one attack was run with several settings or goals, these are part of its name. Where
    several targets share a name, the fingerprint is. Runs that are equal in all of this are told
    apart by their own names.
    """
    manifests = [run.manifest for run in runs]
    names = [(_target(m, manifests), _attack(m, manifests)) for m in manifests]
    cells: dict[tuple[str, str], AttackedTarget] = {}
    for run, (target, attack) in zip(runs, names):
        name = f"{attack} ({run.name})" if names.count((target, attack)) > 1 else attack
        # A run that is passed twice is one cell.
        if (target, name) not in cells:
            cells[target, name] = AttackedTarget(target, name, run.results())
    return grid(list(cells.values()))


def grid_markdown(table: Grid) -> str:
    """Write the grid as a Markdown table, with intervals."""
    columns = [Column(name) for name in ("target", "clean", *table.attacks)]
    rows = [[target, *map(_cell, grid_row(table, target))] for target in table.targets]
    return Table(columns, rows, notes=grid_notes(table)).markdown().strip() + "\n"


def grid_row(table: Grid, target: str) -> list[Figure | None]:
    """Return the accuracies of a target: clean, then under every attack; None: no run."""
    return [table.clean[target], *(table.cells.get((target, name)) for name in table.attacks)]


def grid_notes(table: Grid) -> list[str]:
    """Tell which runs do not compare with the rest case by case."""
    if not table.uneven:
        return []
    uneven = ", ".join(f"{attack} against {target}" for target, attack in table.uneven)
    shared = f"{plural(table.shared, ('example is', 'examples are'))} shared by all."
    return [f"Over other examples than the rest: {uneven}. {shared}"]


def _cell(figure: Figure | None) -> Cell:
    if figure is None or figure.value is None:
        return Cell()
    return Cell(percent(figure.value), small=(format_interval(figure, percent),))


def _target(manifest: Mapping[str, Any], manifests: Sequence[Mapping[str, Any]]) -> str:
    name, fingerprint = manifest.get("target"), manifest.get("fingerprint")
    fingerprints = {m.get("fingerprint") for m in manifests if m.get("target") == name}
    return f"{name} {str(fingerprint)[:8]}" if len(fingerprints) > 1 else str(name)


def _attack(manifest: Mapping[str, Any], manifests: Sequence[Mapping[str, Any]]) -> str:
    """Name an attack, with the settings and the goal in which its runs differ."""
    same = [m for m in manifests if m.get("attack") == manifest.get("attack")]
    settings = manifest.get("settings") or {}
    names = dict.fromkeys(name for m in same for name in (m.get("settings") or {}))
    differing = [
        f"{name} {settings.get(name)}"
        for name in names
        if len({str((m.get("settings") or {}).get(name)) for m in same}) > 1
    ]
    if len({m.get("goal") for m in same}) > 1:
        differing.append(str(manifest.get("goal")))
    return " ".join([str(manifest.get("attack")), *differing])
