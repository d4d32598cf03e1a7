"""The matrix of a transfer study in the terminal, where it fits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.style import Style
from rich.text import Text

from brittle.formatting import NO_VALUE
from brittle.reports.colours import LIGHT_STOPS, ink_on, ramp
from brittle.reports.heat_map import LEVELS
from brittle.reports.studies.heat_map import scale_of
from brittle.reports.studies.rate_matrix import RateMatrix
from brittle.visible import visible

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


def _full(colour: str) -> str:
    """Write #abc as #aabbcc, the only form that rich reads."""
    return "#" + "".join(2 * c for c in colour[1:])
