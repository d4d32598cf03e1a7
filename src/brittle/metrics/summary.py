"""A run in a few figures, each with its interval and its denominator.

The product of two rates from two samples: valid success is success times validity. Rates and means
over rows of which several are of one text: intervals by bootstrap over texts. How many cases no
swap breaks, from both sides: what is proved, and what is not broken. The mean success of a random
draw, of attacks that sample. How many originals a generator keeps: of an attack that searches its
latent space.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from brittle.asks import (
    DECIDED,
    NO_CANDIDATES,
    NORMALISED,
    NOTHING_TO_EDIT,
    OTHER_CLASS,
    RECONSTRUCTION,
)
from brittle.goals import is_reached
from brittle.metrics.intervals import bootstrap_mean, wilson
from brittle.results import Result, Step
from brittle.statuses import ATTACKED as ATTACKED
from brittle.statuses import STATUSES, Status

PICTURE_MEASURES = ("pixels_changed", "l2", "linf")


@dataclass(frozen=True)
class Figure:
    """A rate or a mean, with its interval and its denominator.

    `count` is the numerator of a rate, None for a mean; `of` is the denominator, and `over` names
    what it counts. Over nothing (`of` = 0) there is no value.
    """

    value: float | None
    low: float | None
    high: float | None
    count: int | None
    of: int
    over: str


@dataclass(frozen=True)
class Summary:
    """The figures of a run.

    `before` and `after` are the accuracy on the originals and under attack, over the same
    examples. `after` goes by the goal: what the attack did not break is right. `after_by_label`
    goes by the label alone: what was driven to another label is wrong, though the goal asked for
    more (a confidence, a certain label), and what kept its label is right, though the goal was
    reached. `success` is over the attacked cases, and so is the mean `queries`; `words` and `share`
    (of the text's words) are means over the broken cases, and so are the `measures` of pictures
    (pixels_changed, l2, linf) and the `cost` of searches that have one. `untouched` counts the
    right examples that could not be attacked, which `after` counts as right. `reasons` counts the
    reasons of each status. `at_limit` is the success of the finished text, of attacks that finish
    their text before they ask; `per_draw` is the mean success of a draw, of attacks that sample;
    `rebuilt` is the share of originals that a generator keeps, of attacks that have one.
    `validity` is the share of broken cases that people find valid, where it was measured, and
    `valid_success` is success times that.
    """

    cases: int
    planned: int
    statuses: Mapping[Status, int]
    reasons: Mapping[Status, Mapping[str, int]]
    before: Figure
    after: Figure
    after_by_label: Figure
    success: Figure
    queries: Figure
    words: Figure
    share: Figure
    measures: Mapping[str, Figure]
    cost: Figure
    untouched: int = 0
    at_limit: Figure | None = None
    per_draw: Figure | None = None
    rebuilt: Figure | None = None
    validity: Figure | None = None
    valid_success: Figure | None = None

    @property
    def complete(self) -> bool:
        return self.cases >= self.planned


def summary(
    results: Sequence[Result],
    planned: int | None = None,
    steps: Iterable[Step] = (),
) -> Summary:
    """Compute the figures of result rows; `planned` counts the cases that the run should have.

    Without `steps` only the last improvement of a case that held, which is its row, is known to
    `after_by_label`; with two classes that is enough.

    >>> from brittle.metrics.samples import sample_results
    >>> figures = summary(sample_results(), planned=10)
    >>> figures.success.count, figures.success.of, figures.success.over
    (3, 5, 'attacked cases')
    >>> figures.before.count, figures.after.count, figures.after.of
    (6, 3, 7)
    >>> figures.words.value, figures.complete
    (1.3333333333333333, False)
    """
    judged = [r for r in results if is_judged(r)]
    attacked = [r for r in results if r.status in ATTACKED]
    broken = [r for r in results if r.status == "broken"]
    counts = Counter(r.status for r in results)
    right_before = sum(r.predicted == r.label for r in judged)
    right_after = sum(is_right_after(r) for r in judged)
    right_by_label = _count_right_by_label(judged, steps)
    over = "examples answered"
    # Edits that the target undoes say nothing of it, so there is no accuracy under them.
    is_tested, untested = not is_undone(results), rate(0, 0, over)
    shares = [r.words_changed / r.words for r in broken if r.words]
    return Summary(
        cases=len(results),
        planned=len(results) if planned is None else planned,
        statuses={status: counts[status] for status in STATUSES},
        reasons=_reasons(results),
        before=rate(right_before, len(judged), over),
        after=rate(right_after, len(judged), over) if is_tested else untested,
        after_by_label=rate(right_by_label, len(judged), over) if is_tested else untested,
        success=rate(len(broken), len(attacked), "attacked cases"),
        queries=mean([r.queries for r in attacked], "attacked cases"),
        words=mean([r.words_changed for r in broken], "broken cases"),
        share=mean(shares, "broken cases"),
        measures={name: _mean_measure(broken, name) for name in PICTURE_MEASURES},
        cost=_mean_measure(broken, "cost"),
        untouched=sum(map(is_untouched, judged)),
    )


def _mean_measure(broken: Sequence[Result], name: str) -> Figure:
    values = [getattr(row, name) for row in broken]
    return mean([float(value) for value in values if value is not None], "broken cases")


def is_judged(result: Result) -> bool:
    """Tell whether a case counts for accuracy: the target answered.

    A case that failed during the attack has an answer before it and none after it; it counts for
    neither accuracy, so that both are over the same examples.
    """
    is_answered = result.label is not None and result.predicted is not None
    return is_answered and STATUSES[result.status].is_judged


def is_untouched(result: Result) -> bool:
    """Tell whether a right example was skipped because the attack can do nothing with it."""
    is_skipped = result.status == "skipped" and not result.reason.startswith(DECIDED)
    return is_skipped and result.predicted == result.label


def is_undone(results: Iterable[Result]) -> bool:
    """Tell whether the target undoes the edits of the attack, so that no case was attacked."""
    return any(row.status == "skipped" and row.reason == NORMALISED for row in results)


def is_right_after(result: Result) -> bool:
    """Tell whether the target was right on the original and the attack did not break it."""
    return result.status != "broken" and result.predicted == result.label


def _count_right_by_label(results: Sequence[Result], steps: Iterable[Step]) -> int:
    """Count the examples that are right under attack by their labels alone, whatever the goal.

    An original that was right is wrong once a candidate on the way got another label. One that was
    wrong is right if the attack ended with its label. In unconfirmed cases the original counts:
    what reached the goal there did not do so again.
    """
    counted = {*ATTACKED} - {"unconfirmed"}
    ended = {r.case: r.adversarial_label for r in results if r.status in counted}
    labels = {r.case: r.label for r in results}
    answers = [(step.case, step.label) for step in steps if step.label is not None]
    answers += [(case, label) for case, label in ended.items() if label is not None]
    moved = {c for c, label in answers if c in ended and is_reached(label, labels[c], None)}
    right = [r.case not in moved for r in results if r.predicted == r.label]
    mended = [ended.get(r.case) == r.label for r in results if r.predicted != r.label]
    return sum(right) + sum(mended)


def rate(k: int, n: int, over: str, level: float = 0.95) -> Figure:
    """Return k of n as a figure with a Wilson interval.

    >>> rate(0, 0, "attacked cases").value is None
    True
    """
    if n == 0:
        return Figure(None, None, None, 0, 0, over)
    low, high = wilson(k, n, level)
    return Figure(k / n, low, high, k, n, over)


def mean(values: Sequence[float], over: str, level: float = 0.95, seed: int = 0) -> Figure:
    """Return a mean as a figure with a bootstrap interval.

    >>> mean([1, 2, 6], "broken cases").value
    3.0
    """
    if not values:
        return Figure(None, None, None, None, 0, over)
    low, high = bootstrap_mean(values)
    return Figure(math.fsum(values) / len(values), low, high, None, len(values), over)


def _reasons(results: Sequence[Result]) -> dict[Status, dict[str, int]]:
    by_status: dict[Status, Counter[str]] = {}
    for r in results:
        if r.reason:
            by_status.setdefault(r.status, Counter())[r.reason] += 1
    return {status: dict(counter.most_common()) for status, counter in by_status.items()}


def product_of_rates(a: Figure, b: Figure, over: str) -> Figure:
    """Return a × b, with an interval from both samples; `of` is the denominator of the first.

    The distance from each rate to the end of its own interval stands for its error; the two errors,
    each times the other rate, are squared and added (MOVER: Zou and Donner, 2008). Near 0 and 1 the
    intervals of rates are lopsided, and so is this one.

    >>> from brittle.metrics import rate
    >>> valid = product_of_rates(rate(62, 66, "attacked cases"), rate(9, 46, "read"), "attacked")
    >>> round(valid.value, 3), round(valid.low, 3), round(valid.high, 3), valid.of
    (0.184, 0.098, 0.312, 66)
    >>> product_of_rates(rate(0, 0, "attacked cases"), rate(9, 46, "read"), "attacked").value
    """
    values = (a.value, a.low, a.high, b.value, b.low, b.high)
    if any(value is None for value in values):
        return Figure(None, None, None, None, a.of, over)
    p, p_low, p_high, q, q_low, q_high = (float(value or 0.0) for value in values)
    down = math.hypot(q * (p - p_low), p * (q - q_low))
    up = math.hypot(q * (p_high - p), p * (q_high - q))
    return Figure(p * q, max(0.0, p * q - down), min(1.0, p * q + up), None, a.of, over)


CLUSTER_RESAMPLES = 1000


def rate_by_text(outcomes: Sequence[tuple[str, bool]], over: str, level: float = 0.95) -> Figure:
    """Return a rate over (text, outcome) pairs; Wilson's interval if every text is there once.

    >>> figure = rate_by_text([("a", True), ("b", False)] * 10, "answers")
    >>> figure.value, figure.of, figure.low, figure.high
    (0.5, 20, 0.0, 1.0)
    """
    won = sum(outcome for _, outcome in outcomes)
    if len({case for case, _ in outcomes}) == len(outcomes):
        return rate(won, len(outcomes), over, level)
    figure = mean_by_text(outcomes, over, level)
    return Figure(figure.value, figure.low, figure.high, won, len(outcomes), over)


def mean_by_text(
    values: Sequence[tuple[str, float]], over: str, level: float = 0.95, seed: int = 0
) -> Figure:
    """Return the mean of the values of (text, value) pairs; whole texts are drawn."""
    if not values:
        return Figure(None, None, None, None, 0, over)
    number = {case: n for n, case in enumerate(dict.fromkeys(case for case, _ in values))}
    index = np.array([number[case] for case, _ in values])
    total = np.bincount(index, [float(value) for _, value in values])
    count = np.bincount(index)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(total), np.full(len(total), 1 / len(total)), size=CLUSTER_RESAMPLES)
    means = (drawn @ total) / (drawn @ count)
    low, high = np.quantile(means, ((1 - level) / 2, (1 + level) / 2))
    value = float(total.sum() / count.sum())
    return Figure(value, float(low), float(high), None, len(values), over)


@dataclass(frozen=True)
class Robust:
    """How many attacked cases withstand every text with at most `words` words swapped.

    `proved` is the lower bound, `unbroken` the upper bound; the `unknown` cases between them broke
    with more words, or were not searched to the end. `single_swaps` is how large the space is: the
    mean number of texts with one word swapped, over the cases that withstand one swap. `untested`
    texts have no word to swap; they are not attacked, so both rates leave them out.
    """

    words: int
    proved: Figure
    unbroken: Figure
    single_swaps: Figure
    unknown: int = 0
    untested: int = 0


def robust_to_words(results: Sequence[Result]) -> list[Robust]:
    """Compute both bounds for every number of words up to the largest that was proved anywhere.

    Nothing if no search noted what it proved.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> rows = sample_results()
    >>> rows[3] = replace(rows[3], proved_words=1, single_swaps=4)
    >>> [bounds] = robust_to_words(rows)
    >>> bounds.words, bounds.proved.count, bounds.unbroken.count, bounds.unbroken.of
    (1, 1, 3, 5)
    >>> bounds.unknown, bounds.single_swaps.value, bounds.untested
    (2, 4.0, 1)
    """
    most = max((row.proved_words or 0 for row in results), default=0)
    attacked = [row for row in results if row.status in ATTACKED]
    swaps = [row.single_swaps for row in attacked if row.proved_words and row.single_swaps]
    size = mean(swaps, "cases that no single swap breaks")
    untested = sum(map(_is_one_text, results))
    bounds = []
    for words in range(1, most + 1):
        proved = sum((row.proved_words or 0) >= words for row in attacked)
        unbroken = sum(_is_open(row, words) for row in attacked)
        below, above = (
            rate(count, len(attacked), "attacked cases") for count in (proved, unbroken)
        )
        bounds.append(Robust(words, below, above, size, unbroken - proved, untested))
    return bounds


def _is_one_text(row: Result) -> bool:
    return row.status == "skipped" and row.reason in (NO_CANDIDATES, NOTHING_TO_EDIT)


def _is_open(row: Result, words: int) -> bool:
    """Tell whether nothing with so few words is known to reach the goal."""
    is_broken = row.status == "broken" and row.words_changed <= words
    return not is_broken and row.proved_words != 0


def success_per_draw(results: Sequence[Result], level: float = 0.95) -> Figure | None:
    """Return the mean over cases of the share of draws that won; None if no case has drawn.

    The interval is by bootstrap over texts: draws in one text are not independent.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> broken = sample_results()[0]
    >>> rows = [replace(broken, original=f"{n}", tried=10, won=n) for n in range(5)]
    >>> figure = success_per_draw(rows)
    >>> figure.value, figure.of
    (0.2, 5)
    >>> success_per_draw(sample_results()) is None
    True
    """
    shares = [
        (row.original, (row.won or 0) / row.tried)
        for row in results
        if row.tried and row.status in ATTACKED
    ]
    return mean_by_text(shares, "attacked cases", level) if shares else None


def reconstructions_kept(results: Sequence[Result]) -> Figure | None:
    """Compute the share of reconstructions that did not reach the goal by themselves.

    A case with another one is skipped: what breaks it is the generator. None if there are no
    reconstructions.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> from brittle.results import KeptItem
    >>> rebuilt = (KeptItem("reconstruction", "a film"),)
    >>> rows = [replace(row, kept=rebuilt) for row in sample_results()[:3]]
    >>> rows[2] = replace(rows[2], status="skipped", reason=RECONSTRUCTION)
    >>> figure = reconstructions_kept(rows)
    >>> figure.count, figure.of
    (2, 3)
    """
    lost = [row for row in results if row.reason in (RECONSTRUCTION, OTHER_CLASS)]
    rebuilt = {row.case for row in results if any(k.name == "reconstruction" for k in row.kept)}
    total = len(rebuilt | {row.case for row in lost})
    return rate(total - len(lost), total, "reconstructions") if total else None
