"""Runs as a grid: the accuracy of every target under every attack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from brittle.formatting import NO_VALUE, number, percent
from brittle.metrics.grid import AttackedTarget, Grid, grid
from brittle.metrics.summary import Figure
from brittle.reports.stored import StoredRun
from brittle.reports.texts import visible
from brittle.reports.wording import interval

if TYPE_CHECKING:
    from rich.console import RenderableType


def grid_of(runs: Sequence[StoredRun], shared_only: bool = False) -> Grid:
    """Set stored runs beside each other, each named by its target and attack.

    Where one attack was run with several settings or goals, these are part of its name; where one
    name means several targets, the fingerprint is; runs alike in all of this keep their own names.
    """
    manifests = [run.manifest for run in runs]
    names = [(_target(m, manifests), _attack(m, manifests)) for m in manifests]
    played: dict[tuple[str, str], AttackedTarget] = {}
    for run, (target, attack) in zip(runs, names):
        told = f"{attack} ({run.name})" if names.count((target, attack)) > 1 else attack
        # The very same run given twice is one run.
        if (target, told) not in played:
            played[target, told] = AttackedTarget(target, told, run.results())
    return grid(list(played.values()), shared_only)


def grid_markdown(table: Grid) -> str:
    """Write the grid as a Markdown table, with intervals."""
    head = ("target", "clean", *table.attacks)
    rows = [head, ("---",) * len(head)]
    for target in table.targets:
        rows.append((target, *(_plain(figure) for figure in _row(table, target))))
    told = ["| " + " | ".join(_in_markdown(cell) for cell in row) + " |" for row in rows]
    return "\n".join([*told, "", *map(_in_markdown, _notes(table))]).strip() + "\n"


def grid_table(table: Grid) -> RenderableType:
    """Show the grid in the terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    shown.add_column("", overflow="fold")
    for name in ("clean", *table.attacks):
        shown.add_column(Text(visible(name)), justify="right", overflow="fold")
    for target in table.targets:
        cells = [
            Text.assemble((percent(f.value), "bold"), "\n", (interval(f, percent), "dim"))
            if f is not None
            else Text(NO_VALUE, style="dim")
            for f in _row(table, target)
        ]
        shown.add_row(Text(visible(target)), *cells)
    title = Text("accuracy of every target under every attack", style="bold")
    return Group(title, shown, *(Text(visible(note), style="yellow") for note in _notes(table)))


def _row(table: Grid, target: str) -> list[Figure | None]:
    return [table.clean[target], *(table.cells.get((target, name)) for name in table.attacks)]


def _notes(table: Grid) -> list[str]:
    if not table.uneven:
        return []
    odd = ", ".join(f"{attack} against {target}" for target, attack in table.uneven)
    return [
        f"Over other examples than the rest: {odd}. {number(table.shared)} examples are shared "
        "by all."
    ]


def _plain(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return NO_VALUE
    return f"{percent(figure.value)} ({interval(figure, percent)})"


def _in_markdown(cell: str) -> str:
    """Keep a name from opening cells, lines or markup of its own."""
    plain = " ".join(visible(cell).split())
    return "".join("\\" + char if char in "\\|`*_[]<>" else char for char in plain)


def _target(manifest: Mapping[str, Any], manifests: Sequence[Mapping[str, Any]]) -> str:
    alike = {m.get("fingerprint") for m in manifests if m.get("target") == manifest.get("target")}
    name = str(manifest.get("target"))
    return f"{name} {str(manifest.get('fingerprint'))[:8]}" if len(alike) > 1 else name


def _attack(manifest: Mapping[str, Any], manifests: Sequence[Mapping[str, Any]]) -> str:
    alike = [m for m in manifests if m.get("attack") == manifest.get("attack")]
    settings = manifest.get("settings") or {}
    names = dict.fromkeys(name for m in alike for name in (m.get("settings") or {}))
    told = [
        f"{name} {settings.get(name)}"
        for name in names
        if len({str((m.get("settings") or {}).get(name)) for m in alike}) > 1
    ]
    if len({m.get("goal") for m in alike}) > 1:
        told.append(str(manifest.get("goal")))
    return " ".join([str(manifest.get("attack")), *told])
