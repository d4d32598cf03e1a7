"""A transfer study in the terminal: means by class, the matrix where it fits, what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from brittle.edits import diff_strings
from brittle.formatting import NO_VALUE, number, plural
from brittle.reports.colours import LIGHT_STOPS, ink_on, ramp
from brittle.reports.escaping import visible
from brittle.reports.excerpts import split_at_edits
from brittle.reports.studies.heat_map import LEVELS, in_percent, means, scale_of
from brittle.reports.studies.tables import (
    WAYS,
    ClassTable,
    FactorRow,
    FoolingText,
    RateMatrix,
    ReportedStudy,
)
from brittle.reports.terminal import CONTEXT_CHARACTERS, LONG_TEXT_CHARACTERS, note_block

MAX_NAME_CHARACTERS = 24


def study_block(study: ReportedStudy, texts: int = 5) -> RenderableType:
    """Show the figures of a study, and some of the texts that fool most targets."""
    facts = [study.attack, *(str(study.facts.get(name) or "") for name in ("data", "pool"))]
    about = visible(", ".join([*filter(None, facts), study.matrix.size]))
    title = Text.assemble((visible(study.name), "bold"), "  ", (about, "dim"))
    parts: list[RenderableType] = [title, "", _figures(study), ""]
    of_right = {table.by: table for table in study.classes if table.of_right}
    for table in study.classes:
        if not table.of_right:
            parts += [*_class_block(table, of_right.get(table.by)), ""]
    parts += [*_factors(study), MatrixBlock(study.matrix)]
    for text in study.texts[: max(texts, 0)]:
        parts += ["", _fooling(text)]
    parts += [note_block(warning) for warning in study.warnings]
    parts += [
        note_block(f"{name} has empty cells: {reason}") for name, reason in study.failures.items()
    ]
    return Group(*parts)


def study_json(study: ReportedStudy) -> dict[str, Any]:
    """Return the figures of a study for programs; an empty cell is null."""
    matrix = study.matrix
    return {
        "study": study.name,
        **study.facts,
        "sources": [model.name for model in matrix.sources],
        "targets": [model.name for model in matrix.targets],
        "rate": _lists(matrix.rate),
        "rate_of_right": _lists(matrix.rate_of_right),
        "texts": matrix.texts.tolist(),
        "mean_rate": _number(means(matrix, False)[0]),
        "mean_base_rate": _number(means(matrix, False)[1]),
        "classes": [
            {"by": table.by, "rows": table.rows, "columns": table.columns}
            | {"mean": _lists(table.mean), "without_base": _lists(table.without)}
            | {"of_right": table.of_right}
            for table in study.classes
        ],
        "factors": [_factor(row) for row in study.factors],
        "factors_of_right": [_factor(row) for row in study.factors_of_right],
        "fooling_all": study.fooling_all,
        "winners": study.winners,
        "failures": dict(study.failures),
        "warnings": list(study.warnings),
    }


@dataclass(frozen=True)
class MatrixBlock:
    """The matrix with numbered columns, or, where the terminal is too narrow, a line about it."""

    matrix: RateMatrix

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        numbers = _numbers(self.matrix)
        lines = list(matrix_lines(self.matrix, numbers, console.color_system is not None))
        width = max(map(len, lines))
        if width > options.max_width:
            yield Text(
                f"  The whole matrix needs {width} columns here; brittle report draws it, brittle "
                "export writes it.",
                style="dim",
            )
        else:
            yield from lines
            yield from _names_below(self.matrix, numbers)


def _numbers(matrix: RateMatrix) -> dict[str, int]:
    """Number the models by name: targets first, as the columns are, then sources alone."""
    names = dict.fromkeys(model.name for model in (*matrix.targets, *matrix.sources))
    return {name: n for n, name in enumerate(names, 1)}


def matrix_lines(
    matrix: RateMatrix, numbers: Mapping[str, int], has_colour: bool
) -> Iterator[Text]:
    """Write the matrix in whole percent, a line a source; columns have the numbers of targets."""
    scale, colours = scale_of(matrix), ramp(LEVELS, LIGHT_STOPS)
    styles = [Style(bgcolor=colour, color=_full(ink_on(colour))) for colour in colours]
    names = [_cut(visible(model.name)) for model in matrix.sources]
    head = "source ↓  target →"
    room = max([len(head) - 4, *map(len, names)]) + 1  # so that 100% stands apart from a name
    heads = "".join(f"{numbers[model.name]:>3} " for model in matrix.targets)
    yield Text(f"  {head:<{room + 4}}{heads}", style="dim")
    for i, model in enumerate(matrix.sources):
        line = Text(f"  {numbers[model.name]:>3} {names[i]:<{room}}")
        for rate in matrix.rate[i].tolist():
            cell = NO_VALUE if math.isnan(rate) else f"{100 * rate:.0f}"
            style = styles[scale.level(rate)] if has_colour and not math.isnan(rate) else "dim"
            line.append(f"{cell:>3} ", style if has_colour else "")
        yield line


def _names_below(matrix: RateMatrix, numbers: Mapping[str, int]) -> Iterator[Text]:
    """Write the names of targets that have no row, and those that were cut in their row."""
    sources = {model.name for model in matrix.sources}
    for name, n in numbers.items():
        whole = visible(name)
        if name not in sources:
            yield Text(f"  {n:>3} {whole}  (target alone)", style="dim")
        elif _cut(whole) != whole:
            yield Text(f"  {n:>3} {whole}", style="dim")


def _cut(name: str) -> str:
    is_long = len(name) > MAX_NAME_CHARACTERS
    return f"{name[: MAX_NAME_CHARACTERS - 1]}…" if is_long else name


def _figures(study: ReportedStudy) -> Table:
    (rate, base), (rate_of_right, base_of_right) = (
        means(study.matrix, of_right) for of_right in (False, True)
    )
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim")
    rows = (("mean transfer rate", rate, rate_of_right), ("mean base rate", base, base_of_right))
    for name, value, of_right in rows:
        beside = f"{_percent(of_right)} of texts that the target had right"
        table.add_row(f"  {name}", Text(_percent(value), style="bold"), beside)
    of = plural(study.winners, ("adversarial text", "adversarial texts"))
    fooling = Text(number(study.fooling_all), style="bold red")
    table.add_row("  fool every target", fooling, f"of {of}")
    return table


def _class_block(table: ClassTable, of_right: ClassTable | None) -> list[RenderableType]:
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    heading = Text(f"  mean rate by {WAYS.get(table.by, table.by)}, %", style="bold")
    below = " Below: texts that the target had right." if of_right is not None else ""
    grid.add_column(Text("  source ↓  target →"))
    for name in table.columns:
        grid.add_column(Text(visible(name)), justify="right")
    for i, name in enumerate(table.rows):
        cells = []
        for j in range(len(table.columns)):
            cell = Text(in_percent(float(table.mean[i, j])), style="bold")
            if of_right is not None:
                cell.append(f"\n{in_percent(float(of_right.mean[i, j]))}", "not bold dim")
            cells.append(cell)
        grid.add_row(Text(f"  {visible(name)}"), *cells)
    return [heading, grid, Text(f"  Base rates are included.{below}", style="dim")]


def _factors(study: ReportedStudy) -> list[RenderableType]:
    if not study.factors:
        return []
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    grid.title, grid.title_justify = Text("  mean |r − base| by factor", style="bold"), "left"
    for name in ("  factor", "points", "95% interval", "pairs", "had right", "95% interval"):
        grid.add_column(Text(name), justify="left" if name == "  factor" else "right")
    of_right = {row.factor: row for row in study.factors_of_right}
    for row in study.factors:
        points, interval = _with_interval(row)
        beside = _with_interval(of_right[row.factor]) if row.factor in of_right else (NO_VALUE, "")
        factor = Text(f"  {visible(row.factor)}")
        grid.add_row(factor, Text(points, "bold"), interval, number(row.pairs), *beside)
    below = "  had right: the same over texts that the target had right."
    return [grid, Text(below, style="dim"), ""]


def _with_interval(row: FactorRow) -> tuple[str, str]:
    return in_percent(row.mean), f"{in_percent(row.low)}–{in_percent(row.high)}"


def _fooling(text: FoolingText) -> RenderableType:
    of = plural(text.targets, ("target", "targets"))
    head = Text.assemble(
        (f"  fools {number(text.fooled)} of {of}", "bold red"),
        (f"   label {visible(text.label)}, from {visible(text.source)}", "dim"),
    )
    body = Text(overflow="fold")
    for (name, old), (_, new) in zip(text.original, text.adversarial):
        if len(text.original) > 1:
            body.append(("\n" if body else "") + f"{visible(name)}: ", style="dim")
        context = CONTEXT_CHARACTERS if len(old) > LONG_TEXT_CHARACTERS else None
        for part in split_at_edits(old, diff_strings(old, new), context):
            if isinstance(part, str):
                body.append(visible(part))
            else:
                body.append(f"[{visible(part.old)}→{visible(part.new)}]", style="bold")
    return Group(head, Padding(body, (0, 0, 0, 2), expand=False))


def _percent(rate: float) -> str:
    return in_percent(rate) + ("" if math.isnan(rate) else "%")


def _full(colour: str) -> str:
    """Write #abc as #aabbcc, the only form that rich reads."""
    return "#" + "".join(2 * c for c in colour[1:])


def _factor(row: FactorRow) -> dict[str, Any]:
    names = ("mean", "low", "high")
    return {"factor": row.factor, "pairs": row.pairs} | {
        name: _number(getattr(row, name)) for name in names
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _lists(values: Any) -> list[list[float | None]]:
    return [[_number(value) for value in row] for row in values.tolist()]
