"""Several robustness studies side by side, such as those by two generators, or on other data."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.formatting import NO_VALUE
from brittle.metrics.robustness import TargetRobustness
from brittle.reports.robustness import ReportedRobustness
from brittle.reports.table import Column, Table

EXPLAINED = (
    "Mean Δz with its interval, then the share of the study's cases in which it is the largest. "
    "Distances of two generators are distances in two spaces: compare orders, not sizes."
)


def robustness_side_by_side(studies: Sequence[ReportedRobustness]) -> Table:
    """Show the mean Δz of every target in every study, and what each says of accuracy."""
    columns = [Column("target", fold=True)] + [
        Column(study.name, "right", small=study.generator, fold=True) for study in studies
    ]
    figures = [{figure.target: figure for figure in study.figures} for study in studies]
    targets = dict.fromkeys(name for column in figures for name in column)
    rows = [[target, *(_cell(column.get(target)) for column in figures)] for target in targets]
    rows.append(["correlation with accuracy", *map(_correlation, studies)])
    return Table(columns, rows, notes=(EXPLAINED,))


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
