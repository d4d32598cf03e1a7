"""The part of the page about robustness without labels: Table 6 and Figure 4.

A plot of values at named steps, with their intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.formatting import NO_VALUE
from brittle.metrics.summary import Figure, rate
from brittle.reports.axes import PlotArea, draw, padded_range, ticks_inside, tone, value_title
from brittle.reports.plots import scatter_figure
from brittle_papers.declared import add_table
from brittle_papers.natural import sheets
from brittle_papers.natural.results import (
    KINDS,
    DigitClassifier,
    NaturalResults,
    repeated_classifiers,
)
from brittle_papers.page import PaperPage, format_table


def trend_figure(
    steps: Sequence[str],
    curves: Mapping[str, Sequence[Figure | None]],
    x_label: str,
    y_label: str,
    title: str = "",
) -> str:
    """Draw values at named steps, one apart, with their intervals; a missing one is left out."""
    known = [f for values in curves.values() for f in values if f is not None]
    ends = [x for f in known for x in (f.value, f.low, f.high) if x is not None]
    y = padded_range(ends)
    legend = tuple(curves) if len(curves) > 1 else ()
    area = PlotArea((-0.5, len(steps) - 0.5), y, x_label, y_label, title, legend, "line")
    body, values = [], []
    for n, (name, figures) in enumerate(curves.items()):
        colour = tone(n, len(curves))
        places = []
        for step, figure in enumerate(figures):
            if figure is None or figure.value is None:
                continue
            x_at, y_at = area.x_at(step), area.y_at(figure.value)
            places.append(f"{x_at:.1f} {y_at:.1f}")
            value = f"{name}, {steps[step]}: {figure.value:.3g}"
            if figure.low is not None and figure.high is not None:
                low, high = area.y_at(figure.low), area.y_at(figure.high)
                body.append(f'<path class="whisker" d="M{x_at:.1f} {low:.1f}V{high:.1f}"/>')
            dot = f'class="fill{colour}" cx="{x_at:.1f}" cy="{y_at:.1f}" r="3.5"'
            body.append(f"<circle {dot}>{value_title(value)}</circle>")
            values.append(value)
        if places:
            body.insert(0, f'<path class="line{colour}" d="M{"L".join(places)}"/>')
    ticks = [(float(n), step) for n, step in enumerate(steps)]
    description = f"{y_label} by {x_label}. {'; '.join(values)}"
    return draw(area, description, ticks, ticks_inside(y), "".join(body))


def add_table_6(page: PaperPage, found: NaturalResults) -> None:
    study, test = found.table_6, found.sign_test
    page.add_section("table 6", digits=len(study.cases), scored=study.scored)
    add_table(page, "table 6", found)
    values = {"smaller": test.smaller, "larger": test.larger, "p": test.p}
    page.record(["table 6", "sign test"], values)


def add_figure_4(page: PaperPage, found: NaturalResults) -> None:
    study = found.figure_4
    page.add_section(
        "figure 4",
        digits=len(study.cases),
        classifiers=len(study.targets),
        further=len(found.accurate_classifiers),
        scored=study.scored,
    )
    neurons = {f"{c.settings['hidden']:g}": c for c in found.by_neurons}
    dropouts = {f"{rate:g}": c for rate, c in found.by_dropout.items()}
    for letter, what, shown in (("a", "neurons", neurons), ("b", "dropout rate", dropouts)):
        for name, label, figures in (
            ("distance", "mean Δz", [_distance(found, c) for c in shown.values()]),
            ("accuracy", "accuracy", [_accuracy(found, c) for c in shown.values()]),
        ):
            figure = trend_figure(list(shown), {label: figures}, what, label)
            page.add_plot(f"natural-figure-4{letter}-{name}", figure, f"{label} by {what}")
    every = [*found.classifiers, *found.accurate_classifiers]
    clouds = {
        kind: [
            (float(own.accuracy or 0.0), own.mean)
            for c in every
            if c.kind == kind and (own := found.robustness[c.name]).mean is not None
        ]
        for kind in KINDS
    }
    figure = scatter_figure(clouds, "accuracy", "mean Δz")
    page.add_plot("natural-figure-4c", figure, f"accuracy and mean Δz of {len(every)} classifiers")
    add_table(page, "figure 4", found)
    page.record(
        ["figure 4", "classifiers"],
        {c.name: _recorded(found, c) for c in [*every, *repeated_classifiers(found.classifiers)]},
    )
    _times(page, found)
    drawn, distances = sheets.figure_4d(found)
    page.add_section("figure 4d")
    page.add_plot("natural-figure-4d", drawn, "one digit against classifiers of growing capacity")
    line = [NO_VALUE if d is None else f"{d:.2f}" for d in distances.values()]
    page.add(format_table(["neurons", *distances], [["Δz", *line]]))
    page.record(["figure 4d"], dict(distances))


def _times(page: PaperPage, found: NaturalResults) -> None:
    """Add what all classifiers take together, over what one takes."""
    many, one = (
        found.results[task]["seconds_a_case"] for task in ("robustness of all", "robustness of one")
    )
    if many and one:
        count = len(found.classifiers)
        page.add_section("times", count=count, ratio=f"{many / one:.1f}", one=one, many=many)
        page.record(
            ["figure 4", "time"], {"all over one": round(many / one, 2), "classifiers": count}
        )


def _distance(found: NaturalResults, classifier: DigitClassifier) -> Figure:
    own = found.robustness[classifier.line]
    low, high = own.interval or (None, None)
    return Figure(own.mean, low, high, None, own.found, "digits")


def _accuracy(found: NaturalResults, classifier: DigitClassifier) -> Figure:
    scored = found.figure_4.scored
    return rate(
        round((found.robustness[classifier.line].accuracy or 0.0) * scored), scored, "pictures"
    )


def _recorded(found: NaturalResults, classifier: DigitClassifier) -> dict[str, Any]:
    own = found.robustness[classifier.name]
    return {
        "kind": classifier.kind,
        "accuracy": own.accuracy,
        "Δz": own.mean,
        "found": own.found,
        "reconstruction not kept": found.lost(classifier),
    }
