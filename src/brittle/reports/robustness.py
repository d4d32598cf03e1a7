"""A robustness study as its page and the terminal show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brittle.formatting import plural
from brittle.metrics.intervals import Interval
from brittle.metrics.robustness import SignTest, TargetRobustness
from brittle.reports.escaping import isolate
from brittle.reports.plots import scatter_figure
from brittle.reports.still_page import still_page

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
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for n, head in enumerate(HEADS):
        table.add_column(head, justify="right" if n else "left", overflow="fold")
    for row in shown.rows:
        table.add_row(*map(Text, row))
    lines = [*shown.facts, *shown.notes]
    end = [Text(""), Text(shown.correlation_line), Text(EXPLAINED, style="dim")]
    return Group(*(Text(line, style="dim") for line in lines), Text(""), table, *end)


def robustness_page(shown: ReportedRobustness) -> str:
    """Write one page: the table, accuracy against distance, and examples of texts."""
    facts = "".join(f"<span>{isolate(fact)}</span>" for fact in shown.facts)
    notes = "".join(f"<li>{isolate(note)}</li>" for note in shown.notes)
    sections = [
        f'<p class="facts">{facts}</p>',
        f'<ul class="notes">{notes}</ul>' if notes else "",
        f"<section>{_table(HEADS, shown.rows)}"
        f'<p>{isolate(shown.correlation_line)}</p><p class="small">{isolate(EXPLAINED)}</p>'
        "</section>",
    ]
    points = [
        (f.accuracy, f.mean) for f in shown.figures if f.accuracy is not None and f.mean is not None
    ]
    if len(points) > 1:
        figure = scatter_figure({"targets": points}, "accuracy", "mean Δz")
        sections.append(
            f'<section><h2>Accuracy and mean Δz</h2><div class="card">{figure}</div></section>'
        )
    if shown.examples:
        table = _table(shown.example_heads, shown.examples)
        sections.append(f"<section><h2>Nearest adversaries</h2>{table}</section>")
    return still_page(shown.title, [section for section in sections if section])


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


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{isolate(name)}</th>' for name in heads)
    body = "".join(
        f'<tr><th scope="row">{isolate(first)}</th>'
        + "".join(f"<td>{isolate(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        '<div class="card"><div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )
