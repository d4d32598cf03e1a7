"""The figures and tables of a run by their names, for notebooks, papers and files.

`run.figure("ladder")` and `run.table("figures")` end here. The drawings are those of the report; a
figure that a run does not have is refused with the names of those that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from brittle.errors import UsageError, unknown
from brittle.formatting import number, percent, plural
from brittle.goals import is_class_goal
from brittle.metrics.curves import (
    Curve,
    cost_by_queries,
    success_by_confidence,
    success_by_measure,
    success_by_queries,
    success_by_words,
)
from brittle.metrics.ladder import Ladder, ladder
from brittle.metrics.words import words_histogram
from brittle.reports.axes import CHARACTER_WIDTH, escape, value_title
from brittle.reports.figures import curve_figure
from brittle.reports.kept import Drawing, cost_name, kept_curves, kept_figure
from brittle.reports.ladder import run_readings, rung_lines, unfinished_line
from brittle.reports.notebook import figures_table
from brittle.reports.plots import confidence_figure, cost_figure, histogram_figure
from brittle.reports.stored import StoredRun
from brittle.reports.summaries import summarize
from brittle.reports.summary_lines import format_interval, summary_lines
from brittle.reports.table import Cell, Column, Table

LADDER_WIDTH, ROW_HEIGHT, BAR_HEIGHT, GAP = 560, 30, 16, 10
TABLES = ("figures", "ladder")

Draw = Callable[[StoredRun], str | None]


def run_figure(run: StoredRun, name: str) -> Drawing:
    """Draw a figure of a run by its name."""
    if name not in FIGURES:
        raise unknown("figure", name, FIGURES)
    svg = FIGURES[name](run)
    if svg is None:
        there = [other for other, draw in FIGURES.items() if draw(run) is not None]
        raise UsageError(
            f"The run {run.name!r} has no figure {name!r}: there is nothing to show. It has "
            f"{', '.join(there) or 'none, for no case was attacked'}."
        )
    return Drawing(svg)


def run_table(run: StoredRun, name: str) -> Table:
    """Build a table of a run by its name."""
    if name not in TABLES:
        raise unknown("table", name, TABLES)
    results, figures = summarize(run)
    if name == "figures":
        return figures_table(summary_lines(figures, run.manifest, results))
    climbed = ladder(results)
    if climbed is None:
        raise UsageError(
            f"The run {run.name!r} has no ladder: {run.manifest.get('attack')} does not climb one. "
            "Run the attack auto, or take the table 'figures'."
        )
    lines = rung_lines(climbed, run_readings(run, results))
    columns = [
        Column("edits"),
        Column("accuracy left", "right"),
        Column("interval"),
        Column("broken", "right", number),
        Column("valid"),
    ]
    before = climbed.before
    rows = [["none", Cell(before.value, percent(before.value)), format_interval(before, percent)]]
    rows[0] += [None, ""]
    for rung, line in zip(climbed.rungs, lines):
        interval = format_interval(rung.standing, percent)
        standing = Cell(rung.standing.value, percent(rung.standing.value))
        rows.append([rung.title, standing, interval, rung.broken, line.validity])
    unfinished = unfinished_line(climbed)
    notes = [f"Over {plural(before.of, before.over)}.", *([unfinished] if unfinished else [])]
    return Table(columns, rows, notes=notes)


def ladder_figure(climbed: Ladder) -> str:
    """Draw what each level of edits leaves of the accuracy, as bars with their intervals."""
    before = climbed.before
    rungs = [("before", before, "")]
    rungs += [(f"after {r.title}", r.standing, f"{number(r.broken)} broken") for r in climbed.rungs]
    left = GAP + CHARACTER_WIDTH * max(len(name) for name, _, _ in rungs)
    right = LADDER_WIDTH - CHARACTER_WIDTH * max(len("100%  999 broken"), 16) - GAP
    height = ROW_HEIGHT * len(rungs) + GAP
    said = "; ".join(f"{name}: {percent(figure.value)}" for name, figure, _ in rungs)
    parts = [
        f'<svg class="plot" viewBox="0 0 {LADDER_WIDTH} {height}" role="img" '
        f'aria-label="{escape(f"Accuracy left after each level of edits. {said}")}">'
    ]
    for n, (name, figure, broken) in enumerate(rungs):
        middle = GAP / 2 + ROW_HEIGHT * (n + 0.5)
        width, low, high = (
            (right - left) * (v or 0.0) for v in (figure.value, figure.low, figure.high)
        )
        title = value_title(f"{name}: {percent(figure.value)} of {plural(figure.of, figure.over)}")
        y = middle - BAR_HEIGHT / 2
        parts.append(
            f'<text x="{left - GAP:.1f}" y="{middle + 4:.1f}" text-anchor="end">{escape(name)}'
            "</text>"
            f'<path class="grid" d="M{left:.1f} {middle:.1f}H{right:.1f}"/>'
            f'<rect class="fill tone-0" opacity=".7" x="{left:.1f}" y="{y:.1f}" '
            f'width="{width:.1f}" '
            f'height="{BAR_HEIGHT}">{title}</rect>'
            f'<path class="whisker" d="M{left + low:.1f} {middle:.1f}H{left + high:.1f}"/>'
            f'<text x="{right + GAP:.1f}" y="{middle + 4:.1f}">{percent(figure.value, 0)}'
            f'</text><text x="{LADDER_WIDTH - GAP}" y="{middle + 4:.1f}" text-anchor="end">'
            f"{broken}</text>"
        )
    return "".join([*parts, "</svg>"])


def _ladder(run: StoredRun) -> str | None:
    climbed = ladder(run.results())
    return None if climbed is None else ladder_figure(climbed)


def _queries(run: StoredRun) -> str | None:
    return _curve(success_by_queries(run.results(), run.steps()), "queries per case")


def _words(run: StoredRun) -> str | None:
    if not _is_text(run):
        return None
    return _curve(success_by_words(run.results()), "words changed")


def _distance(run: StoredRun, measure: str, x_label: str) -> str | None:
    if _is_text(run):
        return None
    return _curve(success_by_measure(run.results(), measure), x_label, is_counted=False)


def _confidence(run: StoredRun) -> str | None:
    required = run.manifest.get("confidence")
    if required is None or not is_class_goal(run.manifest.get("goal", "")):
        return None
    aims = (required, run.manifest.get("toward"))
    return confidence_figure({"": success_by_confidence(run.results(), run.steps(), *aims)})


def _kept(run: StoredRun, measure: str) -> str | None:
    curves = kept_curves(run.results(), run.steps(), run.manifest) if _is_text(run) else []
    return next((kept_figure(curve) for curve in curves if curve.measure == measure), None)


def _cost(run: StoredRun) -> str | None:
    curve = cost_by_queries(run.results(), run.steps())
    return cost_figure(curve, name=cost_name(run.manifest) or "cost") if curve.points else None


def _histogram(run: StoredRun) -> str | None:
    histogram = words_histogram(run.results())
    return histogram_figure(histogram) if _is_text(run) and len(histogram.bins) > 1 else None


def _curve(curve: Curve, x_label: str, is_counted: bool = True) -> str | None:
    return curve_figure(curve, x_label, is_counted) if curve.of else None


def _is_text(run: StoredRun) -> bool:
    return bool(run.manifest.get("kind", "text") == "text")


FIGURES: Mapping[str, Draw] = {
    "ladder": _ladder,
    "queries": _queries,
    "words": _words,
    "histogram": _histogram,
    "confidence": _confidence,
    "similarity": partial(_kept, measure="similarity"),
    "fluency": partial(_kept, measure="fluency"),
    "cost": _cost,
    "linf": partial(_distance, measure="linf", x_label="largest change of a pixel"),
    "l2": partial(_distance, measure="l2", x_label="Euclidean (L2) distance"),
}
"""The figures of runs by their names; each is None where a run has nothing to show in it."""
