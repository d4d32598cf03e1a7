"""How easily it breaks: success against queries, confidence, words, distances; what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from brittle.formatting import number, percent, plural
from brittle.goals import is_class_goal
from brittle.metrics.curves import (
    ConfidenceCurve,
    CostCurve,
    Curve,
    cost_by_queries,
    success_by_confidence,
    success_by_measure,
    success_by_queries,
    success_by_words,
)
from brittle.metrics.words import Histogram, words_histogram
from brittle.reports.axes import NARROW_WIDTH, WIDTH
from brittle.reports.figures import curve_figure
from brittle.reports.kept import Caption, Drawing, cost_name, kept_caption, kept_curves, kept_figure
from brittle.reports.page import Section
from brittle.reports.plots import confidence_figure, cost_figure, histogram_figure
from brittle.reports.stored import StoredRun
from brittle.reports.summary_lines import format_interval, significant
from brittle.results import Result

DISTANCES = {
    "linf": ("largest change of a pixel", "broken with no pixel changed by more than"),
    "l2": ("Euclidean (L2) distance", "broken within an L2 distance of"),
}
"""The distances between pictures that are drawn, by their columns: axis and caption."""


@dataclass(frozen=True)
class CurveCard:
    """A figure that is not drawn yet, since its width depends on how many there are."""

    caption: Caption
    draw: Callable[..., str]


@dataclass(frozen=True)
class DrawingRow:
    """Drawings that stand in a row, and the class of the row."""

    css: str
    drawings: Sequence[Drawing]


def curves_section(results: Sequence[Result], run: StoredRun) -> Section:
    """Show what success costs, one chart first; those that would show nothing are left out."""
    steps, manifest = run.steps(), run.manifest
    is_text = manifest.get("kind", "text") == "text"
    name = cost_name(manifest)
    # A search in a latent space changes all pixels; how far it went there says more.
    distances = DISTANCES if name is None else {"l2": DISTANCES["l2"]}
    queries = success_by_queries(results, steps)
    cards = [
        CurveCard(_half(queries, "queries"), partial(curve_figure, queries, "queries per case")),
        *(_words_card(results) if is_text else _distance_cards(results, distances)),
    ]
    note = (
        f"Share of the {plural(queries.of, 'attacked cases')} broken at this cost or less; the "
        "band is the 95% interval."
    )
    required = manifest.get("confidence")
    if required is not None and is_class_goal(manifest.get("goal", "")):
        curve = success_by_confidence(results, steps, required, manifest.get("toward"))
        cards.append(CurveCard(_at_confidence(curve), partial(confidence_figure, {"": curve})))
        note += (
            f" Every search stopped at the confidence asked for ({curve.known:g}); what it could "
            "have reached beyond that is not known."
        )
    kept = kept_curves(results, steps, manifest) if is_text else []
    cards += [CurveCard(kept_caption(curve), partial(kept_figure, curve)) for curve in kept]
    if kept:
        note += (
            " Similarity compares sentence vectors of text and original. Fluency says how likely a "
            "small language model finds the text, compared with its original, per changed word. "
            "Every search ended at its first winner: a stricter search might find another."
        )
    if (costs := cost_by_queries(results, steps)).points:
        if name is not None:
            cards += _distance_cards(results, {"cost": (name, f"broken within {name}")})
        word = name or "cost"
        cards.append(CurveCard(_at_the_end(costs, word), partial(cost_figure, costs, name=word)))
        note += (
            f" The {word} is that of the cheapest winner so far, and its median is "
            f"over the {plural(costs.of, 'broken cases')}: it is known once more than half of them "
            "have a winner."
        )
    histogram = words_histogram(results)
    if is_text and len(histogram.bins) > 1:
        cards.append(CurveCard(_most_frequent(histogram), partial(histogram_figure, histogram)))
    first, *others = cards
    shown = {
        "first": Drawing(first.draw(width=WIDTH), first.caption),
        "rows": in_rows(others),
        "summary": f"{plural(len(others), 'more charts')}: words changed, and what texts keep"
        if is_text
        else plural(len(others), "more charts"),
        "note": note,
    }
    return Section("run_parts.curves", shown, "How easily it breaks")


def in_rows(cards: Sequence[CurveCard]) -> list[DrawingRow]:
    """Set cards in rows of two; of an odd number the first row has three, so that none is empty."""
    three = 3 if len(cards) % 2 else 0
    parts = (("trio", cards[:three], NARROW_WIDTH), ("pair", cards[three:], WIDTH))
    return [
        DrawingRow(css, [Drawing(card.draw(width=width), card.caption) for card in part])
        for css, part, width in parts
        if part
    ]


def _words_card(results: Sequence[Result]) -> list[CurveCard]:
    words = success_by_words(results)
    return [CurveCard(_half(words, "words changed"), partial(curve_figure, words, "words changed"))]


def _distance_cards(
    results: Sequence[Result], distances: Mapping[str, tuple[str, str]]
) -> list[CurveCard]:
    cards = []
    for measure, (name, words) in distances.items():
        curve = success_by_measure(results, measure)
        cost = _half_cost(curve)
        share = percent(curve.share(cost or 0.0))
        within = (" broken",) if cost is None else (f" {words} ", f"{cost:.3g}")
        caption = ("", share, *within, *_last_break(curve, cost, lambda x: f"{x:.3g}"))
        cards.append(CurveCard(caption, partial(curve_figure, curve, name, is_counted=False)))
    return cards


def _half(curve: Curve, units: str) -> Caption:
    """Write at what cost half of the cases are broken, and at what cost the last one broke."""
    cost = _half_cost(curve)
    if cost is None:
        return "", percent(0.0), " broken"
    most, _, unit = plural(cost, units).partition(" ")
    unit, *last = (f" {unit}", *_last_break(curve, cost, number))
    after = "".join([unit, *last[:1]])
    return ("", percent(curve.share(cost)), " broken with at most ", most, after, *last[1:])


def _last_break(curve: Curve, cost: float | None, write: Callable[[float], str]) -> Caption:
    """Write what the last break cost, where that is more than is said already."""
    last = curve.points[-1][0] if curve.points else None
    if cost is None or last is None or last <= cost:
        return ()
    return "; the last break took ", write(last)


def _half_cost(curve: Curve) -> float | None:
    """Return the cost at which half of the cases are broken, or else that of the last break.

    None if no case broke: the end of the axis says what was spent, not what a break costs.
    """
    reached = [x for x, broken in curve.points if 2 * broken >= curve.of]
    return next(iter(reached or [x for x, _ in curve.points[-1:]]), None)


def _at_confidence(curve: ConfidenceCurve) -> Caption:
    figure = curve.figure(curve.known)
    share, interval = percent(figure.value), format_interval(figure, percent)
    known = f"{curve.known:g}"
    return "", share, f" ({interval}) broken with a confidence of at least ", known


def _at_the_end(curve: CostCurve, name: str) -> Caption:
    (first, start), (_, end) = curve.points[0], curve.points[-1]
    count, _, unit = plural(first, "queries").partition(" ")
    return (
        *(f"Median {name} ", significant(start), " after ", count, f" {unit}, "),
        *(significant(end), " in the end"),
    )


def _most_frequent(histogram: Histogram) -> Caption:
    top = max(histogram.bins, key=lambda b: b.count)
    words = plural(top.high, "words")
    words = words if top.low == top.high else f"{top.low}–{words}"
    cases = f"{number(top.count)} of {number(histogram.of)} broken"
    return "Most often ", words, f" changed ({cases})"
