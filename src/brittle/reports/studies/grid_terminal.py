"""A grid in the terminal: success by attack and target, and the paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from brittle.formatting import NO_VALUE, number, percent, plural
from brittle.metrics.summary import Figure
from brittle.reports.escaping import visible
from brittle.reports.studies.grid_tables import (
    BEST,
    BEST_EXPLAINED,
    PairRow,
    ReportedGrid,
    p_value,
    points,
)
from brittle.reports.summary_lines import format_interval
from brittle.reports.terminal import note_block

MAX_PAIRS = 24


def grid_block(study: ReportedGrid) -> RenderableType:
    """Show the figures of a grid."""
    facts = [str(study.facts.get(name) or "") for name in ("data", "pool")]
    about = visible(", ".join([*filter(None, facts), study.about_cases]))
    parts: list[RenderableType] = [
        Text.assemble((visible(study.name), "bold"), "  ", (about, "dim")),
        "",
        _success_table(study),
    ]
    if study.best:
        parts.append(Text(f"  {BEST}: {BEST_EXPLAINED}.", style="dim"))
    parts += [Text(f"  {visible(line)}.", style="dim") for line in study.not_attacked]
    if study.pairs:
        parts += ["", *_pairs(study.pairs)]
    parts += [note_block(warning) for warning in study.warnings]
    parts += [note_block(f"{who}: empty, {reason}") for who, reason in study.empty]
    return Group(*parts)


def _success_table(study: ReportedGrid) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(Text("  attack ↓  target →"))
    for target in study.targets:
        table.add_column(Text(visible(target)), justify="right", overflow="fold")
    for attack in study.attacks:
        cells = [study.cells[attack].get(target) for target in study.targets]
        shown = [_figure(None if cell is None else cell.success) for cell in cells]
        table.add_row(Text(f"  {visible(study.in_words(attack))}"), *shown)
    if study.best:
        row = []
        for target in study.targets:
            attack, figure = study.best.get(target, ("", None))
            row.append(_figure(figure, visible(attack)))
        table.add_row(Text(f"  {BEST}"), *row)
    accuracies = [_figure(study.accuracy.get(target)) for target in study.targets]
    table.add_row(Text("  accuracy", style="dim"), *accuracies)
    return table


def _figure(figure: Figure | None, beside: str = "") -> Text:
    if figure is None or figure.value is None:
        return Text(NO_VALUE)
    text = Text(percent(figure.value), style="bold")
    text.append(f"\n{format_interval(figure, percent)}", "not bold dim")
    text.append(f"\n{beside}" if beside else f" of {number(figure.of)}", "not bold dim")
    return text


def _pairs(pairs: Sequence[PairRow]) -> list[RenderableType]:
    tests = sum(row.p is not None for row in pairs)
    heading = f"  second target minus first, points (McNemar, Holm over {plural(tests, 'tests')})"
    shown = pairs if len(pairs) <= MAX_PAIRS else [row for row in pairs if row.differs]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in ("  attack", "first → second", "points", "95% interval", "p, Holm"):
        side = "left" if name in ("  attack", "first → second") else "right"
        table.add_column(Text(name), justify=side)  # type: ignore[arg-type]
    for row in shown:
        style = "bold" if row.differs else ""
        cells = (points(row.difference), f"{points(row.low)} to {points(row.high)}")
        names = f"{visible(row.a)} → {visible(row.b)}"
        texts = (f"  {visible(row.attack)}", names, *cells, p_value(row.p_holm))
        table.add_row(*(Text(text, style=style) for text in texts))
    parts: list[RenderableType] = [Text(heading, style="bold")]
    parts += [table] if shown else []
    if len(shown) < len(pairs):
        hidden = plural(len(pairs) - len(shown), ("comparison", "comparisons"))
        parts.append(Text(f"  {hidden} above 0.05: brittle report shows them all.", style="dim"))
    return parts


def grid_json(study: ReportedGrid) -> dict[str, Any]:
    """Return the figures of a grid for programs; an empty cell is null."""
    return {
        "study": study.name,
        "kind": "grid",
        **study.facts,
        "attacks": study.attacks,
        "targets": study.targets,
        "cases": study.cases,
        "scored": study.scored,
        "all_right": study.all_right,
        "cells": [
            {"attack": attack, "target": target}
            | (asdict(cell) if (cell := study.cells[attack].get(target)) else {"success": None})
            for attack in study.attacks
            for target in study.targets
        ],
        "best": {
            target: {"attack": attack, **asdict(figure)}
            for target, (attack, figure) in study.best.items()
        },
        "accuracy": {target: asdict(figure) for target, figure in study.accuracy.items()},
        "pairs": [asdict(row) for row in study.pairs],
        "failures": dict(study.failures),
        "refusals": dict(study.refusals),
        "warnings": list(study.warnings),
    }
