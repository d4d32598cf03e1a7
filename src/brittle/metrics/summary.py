"""A run in a few figures, each with its interval and its denominator."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from brittle.asks import DECIDED
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
    (pixels_changed, l2, linf) and the `cost` of searches that have one. `reasons` counts the
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
    untouched = sum(map(is_untouched, judged))
    over = "examples answered"
    if untouched:
        over += f", {untouched} of them not open to attack"
    shares = [r.words_changed / r.words for r in broken if r.words]
    return Summary(
        cases=len(results),
        planned=len(results) if planned is None else planned,
        statuses={status: counts[status] for status in STATUSES},
        reasons=_reasons(results),
        before=rate(right_before, len(judged), "examples answered"),
        after=rate(right_after, len(judged), over),
        after_by_label=rate(right_by_label, len(judged), over),
        success=rate(len(broken), len(attacked), "attacked cases"),
        queries=mean([r.queries for r in attacked], "attacked cases"),
        words=mean([r.words_changed for r in broken], "broken cases"),
        share=mean(shares, "broken cases"),
        measures={name: _mean_measure(broken, name) for name in PICTURE_MEASURES},
        cost=_mean_measure(broken, "cost"),
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
