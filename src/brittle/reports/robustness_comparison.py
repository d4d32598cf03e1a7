"""Several robustness studies side by side, such as those by two generators, or on other data."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from brittle.formatting import NO_VALUE
from brittle.metrics.robustness import TargetRobustness
from brittle.reports.robustness import ReportedRobustness
from brittle.visible import visible

EXPLAINED = (
    "Mean Δz with its interval, then the share of the study's cases in which it is the largest. "
    "Distances of two generators are distances in two spaces: compare orders, not sizes."
)


def robustness_side_by_side(studies: Sequence[ReportedRobustness]) -> RenderableType:
    """Show the mean Δz of every target in every study, and what each says of accuracy."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("target", overflow="fold")
    for study in studies:
        heading = Text.assemble((visible(study.name), "bold"), "\n", visible(study.generator))
        table.add_column(heading, justify="right", overflow="fold")
    columns = [{figure.target: figure for figure in study.figures} for study in studies]
    for target in dict.fromkeys(name for column in columns for name in column):
        cells = (_cell(column.get(target)) for column in columns)
        table.add_row(visible(target), *cells)
    table.add_row("correlation with accuracy", *map(_correlation, studies))
    return Group(table, Text(EXPLAINED, style="dim"))


def _cell(figure: TargetRobustness | None) -> str:
    if figure is None or figure.mean is None or figure.interval is None:
        return NO_VALUE
    low, high = figure.interval
    largest = NO_VALUE if figure.largest is None else f"{figure.largest:.2f}"
    return f"{figure.mean:.3f} [{low:.3f}, {high:.3f}], {largest}"


def _correlation(study: ReportedRobustness) -> str:
    if study.correlation is None:
        return NO_VALUE
    value, (low, high) = study.correlation
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"
