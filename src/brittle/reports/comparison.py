"""Runs side by side, and the grid of many targets and attacks.

Runs as a grid: the accuracy of every target under every attack. Several runs in the terminal: side
by side, paired with the first, and as a grid.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from brittle.formatting import number, percent, plural
from brittle.levels import LEVELS
from brittle.metrics.grid import AttackedTarget, Grid, grid
from brittle.metrics.ladder import paired_levels
from brittle.metrics.paired import Contrast, paired
from brittle.metrics.summary import Figure, Summary
from brittle.redaction import visible
from brittle.reports.notes import notes
from brittle.reports.stored import StoredRun
from brittle.reports.summaries import summarize
from brittle.reports.summary_lines import (
    Format,
    answers_texts,
    bleu_lines,
    describe_run,
    format_interval,
    thousandths,
)
from brittle.reports.table import Cell, Column, Table
from brittle.reports.terminal import note_block
from brittle.results import Result


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


def comparison_block(runs: Sequence[StoredRun], level: float = 0.05) -> RenderableType:
    """Show several runs side by side, each later one paired with the first.

    `level` is that of the test that decides whether two runs differ.
    """
    summarized = [summarize(run) for run in runs]
    rows, summaries = [rows for rows, _ in summarized], [figures for _, figures in summarized]
    parts: list[RenderableType] = [_side_by_side(runs, summaries, rows)]
    if len(runs) > 1:
        parts += ["", _paired_table(runs, rows, level), _deciding_rule(level)]
    if len(runs) > 2:
        grid = grid_of([run for run in runs if not answers_texts(run.manifest)])
        if min(len(grid.targets), len(grid.attacks)) > 1:
            parts += ["", _grid_table(grid)]
    if len(runs) == 2:
        command = shlex.join(["brittle", "report", *(run.name for run in runs)])
        line = visible(f"The cases that changed: {command}")
        parts.append(Text(line, style="dim", no_wrap=True, overflow="ignore"))
    for run, figures, results in zip(runs, summaries, rows):
        listed = notes(figures, run.manifest, results)
        parts += [note_block(f"{run.name}: {note}") for note in listed]
    return Group(*parts)


def _side_by_side(
    runs: Sequence[StoredRun], summaries: Sequence[Summary], rows: Sequence[list[Result]]
) -> Table:
    are_texts = any(run.manifest.get("kind", "text") == "text" for run in runs)
    changed = "words" if are_texts else "largest change"
    what = "BLEU " if all(answers_texts(run.manifest) for run in runs) else ""
    headings = (f"{what}before", f"{what}under attack", "success", "queries", changed)
    table = []
    for run, s, results in zip(runs, summaries, rows):
        name = Cell(run.name, small=(describe_run(run.manifest),), strong=True)
        cost = (
            _comparison_cell(s.words, number)
            if are_texts
            else _comparison_cell(s.measures["linf"], thousandths)
        )
        cells = (_comparison_cell(s.success, percent), _comparison_cell(s.queries, number), cost)
        table.append([name, *_before_and_after(s, run, results), *cells])
    return Table(_columns("run", *headings), table)


def _before_and_after(figures: Summary, run: StoredRun, results: Sequence[Result]) -> list[Cell]:
    """Write accuracy or, of a translator, BLEU; without sacrebleu there is none."""
    if not answers_texts(run.manifest):
        return [_comparison_cell(figure, percent) for figure in (figures.before, figures.after)]
    lines = [
        Cell(line.value, small=(line.interval,), strong=True) for line in bleu_lines(results)[:2]
    ]
    return lines or [Cell(), Cell()]


def _deciding_rule(level: float) -> Text:
    """Say which test decides, and what the interval beside it is."""
    rule = (
        f"McNemar's exact test decides (p below {level:g}): higher, lower or undecided. The range "
        f"below a difference is an approximate {100 * (1 - level):g}% interval (Newcombe); close "
        "to the threshold it may say otherwise."
    )
    return Text(rule, style="dim")


def _paired_table(runs: Sequence[StoredRun], rows: Sequence[list[Result]], level: float) -> Table:
    table: list[Sequence[Any]] = []
    for run, later in zip(runs[1:], rows[1:]):
        pair = paired(rows[0], later, 1 - level)
        shared = f"{number(pair.shared)} shared"
        table.append([Cell(run.name, beside=f"  {shared}", strong=True)])
        if not any(answers_texts(one.manifest) for one in (runs[0], run)):
            table.append(["  accuracy before", *_contrast_cells(pair.before, level)])
            for name, after in paired_levels(rows[0], later, 1 - level).items():
                if after != pair.accuracy:  # after the last level it is that under attack
                    row = f"  after {LEVELS[name].title}"
                    table.append([row, *_contrast_cells(after, level)])
            table.append(["  accuracy under attack", *_contrast_cells(pair.accuracy, level)])
        table.append(["  attack success", *_contrast_cells(pair.success, level)])
    columns = _columns("", "difference", "over", "only first", "only here", "p")
    return Table(columns, table, f"paired with {runs[0].name}, case by case")


def _grid_table(grid: Grid) -> RenderableType:
    rows = [
        [
            target,
            *(
                Cell() if f is None else _comparison_cell(f, percent)
                for f in grid_row(grid, target)
            ),
        ]
        for target in grid.targets
    ]
    heading = "accuracy of every target under every attack"
    table = Table(_columns("", "clean", *grid.attacks), rows, heading)
    return Group(table, *(Text(visible(n), style="yellow") for n in grid_notes(grid)))


def _columns(first: str, *numbers: str) -> list[Column]:
    """Return one column of names, then columns of numbers."""
    return [Column(first, fold=True), *(Column(name, "right", fold=True) for name in numbers)]


def _contrast_cells(contrast: Contrast, level: float) -> tuple[Cell | str, ...]:
    if contrast.difference is None or contrast.low is None or contrast.high is None:
        return (Cell("no shared case", style="dim"), "0", *[Cell()] * 3)
    interval = f"{100 * contrast.low:+.1f} to {100 * contrast.high:+.1f}"
    points = f"{100 * contrast.difference:+.1f}" if contrast.difference else "0.0"
    difference = Cell(points, beside=" points", small=(interval,), strong=True)
    p = "<0.001" if contrast.p < 0.001 else f"{contrast.p:.3f}"
    decided = Cell(p, small=(_verdict(contrast, level),), strong=True)
    return difference, *map(number, (contrast.of, contrast.only_a, contrast.only_b)), decided


def _verdict(contrast: Contrast, level: float) -> str:
    """Say what the test decides about the later run's rate."""
    if not contrast.is_significant(level):
        return "undecided"
    return "higher" if contrast.only_b > contrast.only_a else "lower"


def _comparison_cell(figure: Figure, format_value: Format) -> Cell:
    """Write a figure above its interval."""
    interval = format_interval(figure, format_value)
    return Cell(format_value(figure.value), small=(interval,), strong=True)
