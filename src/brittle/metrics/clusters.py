"""Rates and means over rows of which several are of one text: intervals by bootstrap over texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from brittle.metrics.summary import Figure, rate

RESAMPLES = 1000


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
    drawn = rng.multinomial(len(total), np.full(len(total), 1 / len(total)), size=RESAMPLES)
    means = (drawn @ total) / (drawn @ count)
    low, high = np.quantile(means, ((1 - level) / 2, (1 + level) / 2))
    value = float(total.sum() / count.sum())
    return Figure(value, float(low), float(high), None, len(values), over)
