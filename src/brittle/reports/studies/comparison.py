"""Several transfer studies side by side, such as those of two attacks on one pool."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from brittle.formatting import number
from brittle.reports.escaping import visible
from brittle.reports.studies.heat_map import in_percent, means
from brittle.reports.studies.tables import RateMatrix, ReportedStudy


def studies_block(studies: Sequence[ReportedStudy]) -> RenderableType:
    """Show the figures of studies in columns; rates and distances are in percent."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for study in studies:
        facts = (study.attack, study.facts.get("pool"))
        about = ", ".join(str(fact) for fact in facts if fact)
        heading = Text.assemble((visible(study.name), "bold"), "\n", visible(about))
        table.add_column(heading, justify="right", overflow="fold")
    columns = [compared_figures(study) for study in studies]
    for name in dict.fromkeys(name for column in columns for name in column):
        values = (column.get(name, math.nan) for column in columns)
        is_count = name in COUNTS
        cells = [number(value) if is_count else in_percent(value) for value in values]
        table.add_row(Text(f"  {visible(name)}"), *cells)
    return Group(table, Text(f"  {EXPLAINED}", style="dim"))


COUNTS = ("fool every target", "adversarial texts")
EXPLAINED = "Rates in %, |r − base| in points: how far a cell is from the base rate of its target."


def compared_figures(study: ReportedStudy) -> Mapping[str, float]:
    """Return the figures in which studies are compared, by their names; NaN where there is none."""
    rate, base = means(study.matrix, of_right=False)
    return {
        "mean transfer rate": rate,
        "mean base rate": base,
        "|r − base| over all pairs": mean_distance(study.matrix),
        **{f"|r − base| by {row.factor}": row.mean for row in study.factors},
        "fool every target": study.fooling_all,
        "adversarial texts": study.winners,
    }


def mean_distance(matrix: RateMatrix) -> float:
    """Return the mean of |r − base| over pairs of different models whose target has a base rate."""
    base = np.where(matrix.is_base & np.isfinite(matrix.rate), matrix.rate, 0).sum(axis=0)
    has_base = (matrix.is_base & np.isfinite(matrix.rate)).any(axis=0)
    distance = np.abs(matrix.rate - np.where(has_base, base, np.nan))[matrix.is_pair]
    distance = distance[np.isfinite(distance)]
    return float(distance.mean()) if len(distance) else math.nan


def studies_json(studies: Sequence[ReportedStudy]) -> list[dict[str, Any]]:
    """Return the compared figures for programs; null where there is none."""
    return [
        {"study": study.name}
        | {name: study.facts.get(name) for name in ("attack", "settings")}
        | {
            name: None if math.isnan(value) else value
            for name, value in compared_figures(study).items()
        }
        for study in studies
    ]
