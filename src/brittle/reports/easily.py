"""How easily it breaks: success against queries, words and confidence, and how many words."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.formatting import number, percent, plural
from brittle.metrics.confidence import ConfidenceCurve, success_by_confidence
from brittle.metrics.curves import Curve, success_by_queries, success_by_words
from brittle.metrics.histogram import Histogram, words_histogram
from brittle.reports.figures import curve_figure
from brittle.reports.plots import confidence_figure, histogram_figure
from brittle.reports.stored import StoredRun
from brittle.reports.wording import interval
from brittle.results import Result, Step


def easily_section(results: Sequence[Result], run: StoredRun) -> str:
    """Show what success costs; figures that would say nothing are left out."""
    steps = run.steps()
    queries, words = success_by_queries(results, steps), success_by_words(results)
    figures = [
        _card(_told(queries, "query", "queries"), curve_figure(queries, "queries per case")),
        _card(_told(words, "word changed", "words changed"), curve_figure(words, "words changed")),
    ]
    note = (
        f"Share of the {number(queries.of)} attacked cases broken at this cost or less; the band "
        "is the 95% interval."
    )
    sure = _confidence(run, results, steps)
    if sure is not None:
        figures.append(_card(_confidence_told(sure), confidence_figure({"": sure})))
        note += (
            f" Searches stopped at the confidence asked for ({sure.known:g}): what they could "
            "have reached beyond it is not known."
        )
    spread = words_histogram(results)
    if len(spread.bins) > 1:
        figures.append(_card(_words_told(spread), histogram_figure(spread)))
    return (
        f'<section><h2>How easily it breaks</h2><div class="pair">{"".join(figures)}</div>'
        f'<p class="small">{note}</p></section>'
    )


def _confidence(
    run: StoredRun, results: Sequence[Result], steps: Sequence[Step]
) -> ConfidenceCurve | None:
    """Draw success against the confidence asked for, if the run asked for one."""
    asked = run.manifest.get("confidence")
    if asked is None:
        return None
    return success_by_confidence(results, steps, asked, run.manifest.get("toward"))


def _card(told: str, figure: str) -> str:
    return f'<figure class="card"><figcaption>{told}</figcaption>{figure}</figure>'


def _told(curve: Curve, one: str, many: str) -> str:
    """Say a curve in a sentence: at what cost half is broken, or how far it came."""
    half = next((x for x, broken in curve.points if 2 * broken >= curve.of), None)
    if half is not None:
        share, cost = percent(curve.share(half)), half
    else:
        share, cost = percent(curve.share(curve.end)), curve.end
    unit = one if cost == 1 else many
    return f"<b>{share}</b> broken with at most <b>{number(cost)}</b> {unit}"


def _confidence_told(curve: ConfidenceCurve) -> str:
    figure = curve.figure(curve.known)
    share, within = percent(figure.value), interval(figure, percent)
    return f"<b>{share}</b> ({within}) broken with a confidence of at least <b>{curve.known:g}</b>"


def _words_told(spread: Histogram) -> str:
    top = max(spread.bins, key=lambda b: b.count)
    words = (
        plural(top.low, ("word", "words")) if top.low == top.high else f"{top.low}–{top.high} words"
    )
    return f"Most often <b>{words}</b> changed ({number(top.count)} of {number(spread.of)} broken)"
