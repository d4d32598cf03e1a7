"""The matrix of rates between models: as a map on a page, as a file, in the terminal.

The matrix of a transfer study as it is shown; an empty cell is NaN. Its rates are there twice: over
all texts, and over those that a target had right before the attack. The heat map of a rate matrix,
its legend, and its values. Every cell has two measures: over all texts, and over those that a
target had right. The heat map of a rate matrix as one SVG, for Markdown pages and papers. The
matrix of a transfer study in the terminal, where it fits. Pages and tables of studies: many sources
and targets at once, from stored figures only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, RenderableType
from rich.style import Style
from rich.text import Text

from brittle.formatting import NO_VALUE, number, percent, plural
from brittle.redaction import visible
from brittle.reports.axes import LIGHT_STOPS, ink_on, ramp
from brittle.reports.heat_map import LEVELS, HeatMap, Legend, Scale
from brittle.reports.page import fragment

if TYPE_CHECKING:
    from markupsafe import Markup

Rates = NDArray[np.float64]
Counts = NDArray[np.int64]

WAYS = {"architecture": "architecture", "reads": "what it reads"}
"""By the name of a way to group models: how a reader calls it."""


@dataclass(frozen=True)
class MatrixModel:
    """A source or target by its name; `classes` has its class by each way to group models.

    `members` are the targets that an ensemble consists of, by name.
    """

    name: str
    classes: Mapping[str, str] = field(default_factory=dict)
    members: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RateMatrix:
    """The share of every source's texts that every target gets wrong; rows are sources.

    `texts` counts the texts of each source, `right` those that each target had right.
    """

    sources: tuple[MatrixModel, ...]
    targets: tuple[MatrixModel, ...]
    rate: Rates
    rate_of_right: Rates
    texts: Counts
    right: Counts

    @property
    def size(self) -> str:
        """The number of sources and of targets, in words."""
        return f"{plural(len(self.sources), 'sources')} × {plural(len(self.targets), 'targets')}"

    def rates(self, of_right: bool) -> Rates:
        """Return the rates over all texts, or over those that a target had right."""
        return self.rate_of_right if of_right else self.rate

    @property
    def is_base(self) -> NDArray[np.bool_]:
        """Tell which cells are base rates: source and target are one model of two seeds."""
        sources, targets = (
            np.array([model.name for model in models], dtype=str)
            for models in (self.sources, self.targets)
        )
        is_base: NDArray[np.bool_] = sources[:, None] == targets
        return is_base

    @property
    def is_pair(self) -> NDArray[np.bool_]:
        """Tell which cells are of two models, neither one model nor an ensemble and its member."""
        is_member = [[t.name in source.members for t in self.targets] for source in self.sources]
        is_other = ~np.array(is_member, dtype=bool).reshape(self.rate.shape)
        is_pair: NDArray[np.bool_] = ~self.is_base & is_other
        return is_pair


Values = tuple[str, str, list[tuple[str, bool, int | None]]]
"""A row of values: the source, its texts, and the cells, each a value, whether it is a base rate,
and the number of texts behind it."""


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
        scale = Scale()
        return [heat_map(self.matrix, by, scale) for by in self.ways]

    @property
    def legend(self) -> Legend:
        """The legend of all maps: base rates and empty cells, where there are any."""
        matrix = self.matrix
        parts = (matrix.rate, matrix.rate_of_right)
        has_empty = not all(np.isfinite(part).all() for part in parts)
        has_base = bool((matrix.is_base & np.isfinite(matrix.rate)).any())
        return legend(Scale(), has_empty, has_base)

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


def matrix_figure(matrix: RateMatrix, by: str = "architecture", of_right: bool = False) -> str:
    """Draw the matrix with its models grouped by a class."""
    description = (
        f"Transfer rates of {plural(len(matrix.sources), 'sources')} (rows) to "
        f"{plural(len(matrix.targets), 'targets')} (columns); framed: base rates"
    )
    legend = "framed: base rate; grey: empty"
    return heat_map(matrix, by, Scale()).svg(description, legend, int(of_right))


MAX_NAME_CHARACTERS = 24


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
    scale, colours = Scale(), ramp(LEVELS, LIGHT_STOPS)
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


def _full(colour: str) -> str:
    """Write #abc as #aabbcc, the only form that rich reads."""
    return "#" + "".join(2 * c for c in colour[1:])
