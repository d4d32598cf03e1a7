"""A robustness study as its page and the terminal show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from brittle.formatting import plural
from brittle.metrics.intervals import Interval
from brittle.metrics.robustness import SignTest, TargetRobustness
from brittle.reports.chart import Drawing
from brittle.reports.page import isolate
from brittle.reports.plots import scatter_figure
from brittle.reports.study_page import Part, StudyPage, study_page
from brittle.reports.table import Column, Table
from brittle.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADS = ("target", "mean Δz", "on all's cases", "largest", "accuracy", "found", "held", "lost", "p")
EXPLAINED = (
    "Δz is the distance, in the generator's latent space, of the nearest sample that a target "
    "predicts otherwise than the item. Largest: the share of cases in which no other target's "
    "distance is larger. Held: no adversary within the radius. Lost: the reconstruction is "
    "predicted otherwise already, so nothing was searched. p: sign test against the first target."
)


@dataclass(frozen=True)
class ReportedRobustness:
    """What is shown: figures with the largest mean first, tests by target, facts and examples.

    `examples` are rows of texts: the original, then the nearest adversary of every target.
    """

    name: str
    generator: str
    facts: Sequence[str]
    figures: Sequence[TargetRobustness]
    lost: Mapping[str, int]
    tests: Mapping[str, SignTest]
    correlation: tuple[float, Interval] | None
    notes: Sequence[str]
    example_heads: Sequence[str]
    examples: Sequence[Sequence[str]]

    @property
    def title(self) -> str:
        return f"Robustness: {self.name}"

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The table of the targets, as texts."""
        return [_row(figure, self.lost, self.tests) for figure in self.figures]

    @property
    def correlation_line(self) -> str:
        """The correlation of accuracy and distance in words, or why there is none."""
        if self.correlation is None:
            return "No correlation with accuracy: it needs labels and four targets."
        value, (low, high) = self.correlation
        return (
            f"Rank correlation of accuracy and mean Δz over "
            f"{plural(len(self.figures), 'targets')}: {value:.2f} [{low:.2f}, {high:.2f}]."
        )


def robustness_block(shown: ReportedRobustness) -> RenderableType:
    """Build what the terminal shows."""
    from rich.console import Group
    from rich.text import Text

    lines = [*shown.facts, *shown.notes]
    end = [Text(""), Text(shown.correlation_line), Text(EXPLAINED, style="dim")]
    above = (Text(visible(line), style="dim") for line in lines)
    return Group(*above, Text(""), _table(HEADS, shown.rows, "right"), *end)


def robustness_page(shown: ReportedRobustness) -> str:
    """Write one page: the table, accuracy against distance, and examples of texts."""
    parts = [
        Part(
            shows=[_table(HEADS, shown.rows)],
            lines=[shown.correlation_line],
            below=isolate(EXPLAINED),
        )
    ]
    points = [
        (f.accuracy, f.mean) for f in shown.figures if f.accuracy is not None and f.mean is not None
    ]
    if len(points) > 1:
        chart = Drawing(scatter_figure({"targets": points}, "accuracy", "mean Δz"))
        parts.append(Part("Accuracy and mean Δz", shows=[chart]))
    if shown.examples:
        table = _table(shown.example_heads, shown.examples)
        parts.append(Part("Nearest adversaries", shows=[table]))
    page = StudyPage(shown.title, facts=shown.facts, notes=shown.notes, notes_are="", parts=parts)
    return study_page(page)


def _row(
    figure: TargetRobustness, lost: Mapping[str, int], tests: Mapping[str, SignTest]
) -> tuple[str, ...]:
    mean = "-"
    if figure.mean is not None and figure.interval is not None:
        mean = f"{figure.mean:.3f} [{figure.interval[0]:.3f}, {figure.interval[1]:.3f}]"
    test = tests.get(figure.target)
    return (
        figure.target,
        mean,
        "-" if figure.shared_mean is None else f"{figure.shared_mean:.3f}",
        "-" if figure.largest is None else f"{figure.largest:.2f}",
        "-" if figure.accuracy is None else f"{figure.accuracy:.3f}",
        str(figure.found),
        str(figure.held),
        str(lost[figure.target]),
        "" if test is None else f"{test.p:.2g} ({test.smaller}:{test.larger})",
    )


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], align: Literal["left", "right"] = "left"
) -> Table:
    first, *rest = heads
    columns = [Column(first, is_name=True, fold=True)]
    columns += [Column(head, align, is_name=True, fold=True) for head in rest]
    return Table(columns, rows)
