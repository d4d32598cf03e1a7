"""The heat map of a rate matrix, its legend, and its values.

Every cell has two measures: over all texts, and over those that a target had right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brittle.formatting import NO_VALUE, number, percent, plural
from brittle.reports.heat_map import HeatMap, Legend, Scale
from brittle.reports.page import fragment
from brittle.reports.studies.rate_matrix import WAYS, RateMatrix, Rates

if TYPE_CHECKING:
    from markupsafe import Markup


Values = tuple[str, str, list[tuple[str, bool, int | None]]]
"""A row of values: the source, its texts, and the cells, each a value, whether it is a base rate,
and the number of texts behind it."""


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


@dataclass(frozen=True)
class MatrixMaps:
    """The heat maps of a matrix, one for every way to group its models, and all its values.

    Two switches of the page choose the way and the measure.
    """

    matrix: RateMatrix

    @property
    def ways(self) -> list[str]:
        """The ways to group the models that make more than one group."""
        models = (*self.matrix.sources, *self.matrix.targets)
        ways = [by for by in WAYS if len({model.classes.get(by) for model in models}) > 1]
        return ways or ["architecture"]

    @property
    def switches(self) -> list[tuple[str, str, list[tuple[str, str]]]]:
        """What can be chosen: a legend, a name, and choices with their words."""
        measures = [("all", "all texts"), ("right", "texts the target had right")]
        switches = [("Counting", "of", measures)]
        if len(self.ways) > 1:
            switches.append(("Grouped by", "by", [(by, WAYS[by]) for by in self.ways]))
        return switches

    @property
    def maps(self) -> list[HeatMap]:
        """The maps, one for every way."""
        scale = scale_of(self.matrix)
        return [heat_map(self.matrix, by, scale) for by in self.ways]

    @property
    def legend(self) -> Legend:
        """The legend of all maps: base rates and empty cells, where there are any."""
        matrix = self.matrix
        parts = (matrix.rate, matrix.rate_of_right)
        has_empty = not all(np.isfinite(part).all() for part in parts)
        has_base = bool((matrix.is_base & np.isfinite(matrix.rate)).any())
        return legend(scale_of(matrix), has_empty, has_base)

    @property
    def value_tables(self) -> list[tuple[str, str, list[Values]]]:
        """Every value in percent: a measure, its words, and a row for every source."""
        return [
            ("all", "all texts", self._rows(False)),
            ("right", "texts the target had right", self._rows(True)),
        ]

    def _rows(self, of_right: bool) -> list[Values]:
        """Write the values of one measure: of those that a target had right with their numbers."""
        matrix = self.matrix
        return [
            (
                source.name,
                number(int(matrix.texts[i])),
                [
                    (in_percent(rate), is_base, count if of_right else None)
                    for rate, is_base, count in zip(
                        matrix.rates(of_right)[i].tolist(),
                        matrix.is_base[i].tolist(),
                        matrix.right[i].tolist(),
                    )
                ],
            )
            for i, source in enumerate(matrix.sources)
        ]

    def __html__(self) -> Markup:
        return fragment("matrix.html.jinja", matrix=self)


def in_percent(rate: float | None) -> str:
    """Format a rate as in a table whose unit is the percent.

    >>> in_percent(0.3534), in_percent(float("nan"))
    ('35.3', '–')
    """
    return NO_VALUE if rate is None or math.isnan(rate) else percent(rate).removesuffix("%")


def means(matrix: RateMatrix, of_right: bool) -> tuple[float, float]:
    """Return the mean over all pairs of different models, and the mean base rate."""
    rates, is_base = matrix.rates(of_right), matrix.is_base

    def mean(values: Rates) -> float:
        finite = values[np.isfinite(values)]
        return float(finite.mean()) if len(finite) else math.nan

    return mean(rates[matrix.is_pair]), mean(rates[is_base])
