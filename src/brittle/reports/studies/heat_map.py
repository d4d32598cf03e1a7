"""The heat map of a rate matrix, its legend, and its values.

Every cell has two measures: over all texts, and over those that a target had right.
"""

from __future__ import annotations

import math

import numpy as np

from brittle.formatting import NO_VALUE, number, percent, plural
from brittle.reports.escaping import escape
from brittle.reports.heat_map import LEVELS, HeatMap, Legend, Scale, colour_rules
from brittle.reports.studies.tables import RateMatrix, Rates

__all__ = ("LEVELS", "Scale", "colour_rules", "heat_map", "legend", "means", "scale_of")


def scale_of(matrix: RateMatrix) -> Scale:
    """Return the scale that holds all rates of a matrix, of both kinds."""
    rates = np.concatenate([matrix.rate.ravel(), matrix.rate_of_right.ravel()])
    return Scale.around(rates[np.isfinite(rates)].tolist())


def heat_map(matrix: RateMatrix, by: str, scale: Scale) -> HeatMap:
    """Draw the matrix with its models grouped by a class; a group keeps the order of the pool."""
    return HeatMap(
        [model.name for model in matrix.sources],
        [model.name for model in matrix.targets],
        (matrix.rate.tolist(), matrix.rate_of_right.tolist()),
        scale,
        f"Heat map of {plural(len(matrix.sources), 'sources')} and "
        f"{plural(len(matrix.targets), 'targets')}. Arrow keys move from cell to cell. All values "
        "are in the tables below it.",
        row_groups=[model.classes.get(by, "") for model in matrix.sources],
        column_groups=[model.classes.get(by, "") for model in matrix.targets],
        framed={(int(i), int(j)) for i, j in np.argwhere(matrix.is_base)},
        css=f"by-{by}",
    )


def legend(scale: Scale, has_empty: bool, has_base: bool) -> Legend:
    """Explain the colours, the base rates and the empty cells."""
    base = "base rate: the same model, trained with another seed" if has_base else ""
    return Legend(scale, base, "empty: nothing to measure" if has_empty else "")


def value_table(matrix: RateMatrix, of_right: bool) -> str:
    """Write every value of the matrix, in percent with one decimal."""
    rates, is_base = matrix.rates(of_right), matrix.is_base
    heads = "".join(
        f'<th scope="col"><span>{escape(model.name)}</span></th>' for model in matrix.targets
    )
    rows = []
    for i, source in enumerate(matrix.sources):
        cells = "".join(
            f"<td{_count(matrix, i, j) if of_right else ''}{' class=base' if base else ''}>"
            f"{in_percent(rate)}</td>"
            for j, (rate, base) in enumerate(zip(rates[i].tolist(), is_base[i].tolist()))
        )
        texts = number(int(matrix.texts[i]))
        rows.append(f'<tr><th scope="row">{escape(source.name)}</th><td>{texts}</td>{cells}</tr>')
    return (
        f'<div class="values"><table id="{"right-values" if of_right else "all-values"}"><thead>'
        '<tr><th scope="col">source</th><th scope="col"><span>texts</span></th>'
        f"{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def in_percent(rate: float) -> str:
    """Format a rate as in a table whose unit is the percent.

    >>> in_percent(0.3534), in_percent(float("nan"))
    ('35.3', '–')
    """
    return NO_VALUE if math.isnan(rate) else percent(rate).removesuffix("%")


def _count(matrix: RateMatrix, source: int, target: int) -> str:
    return f" data-n={matrix.right[source, target]}"


def means(matrix: RateMatrix, of_right: bool) -> tuple[float, float]:
    """Return the mean over all pairs of different models, and the mean base rate."""
    rates, is_base = matrix.rates(of_right), matrix.is_base

    def mean(values: Rates) -> float:
        finite = values[np.isfinite(values)]
        return float(finite.mean()) if len(finite) else math.nan

    return mean(rates[matrix.is_pair]), mean(rates[is_base])
