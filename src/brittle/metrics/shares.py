"""Rates of items that several people judged: each item counts with the share who said so."""

from __future__ import annotations

import math
from collections.abc import Sequence

from brittle.metrics.intervals import wilson
from brittle.metrics.summary import Figure

PRIOR_ITEMS = 4.0
"""As many items of an undivided verdict are added to the variance: of few items it says little."""


def rate_of_shares(shares: Sequence[float], over: str, level: float = 0.95) -> Figure:
    """Return the mean of shares, each between 0 and 1, with a Wilson interval.

    The items are the sample, not the answers: two people who agree on all items add nothing. Where
    they disagree, a mean of shares varies less than a rate, and the interval uses the number of
    items that a plain rate of the same variance would need. Where every share is 0 or 1 this is
    the plain Wilson interval. The people count as given: nothing is said of other people.

    >>> figure = rate_of_shares([1, 1, 0.5, 0, 1, 1, 1, 1, 0.5, 1], "items")
    >>> figure.value, round(figure.low, 3), round(figure.high, 3), figure.of
    (0.8, 0.527, 0.935, 10)
    >>> from brittle.metrics import wilson
    >>> plain = rate_of_shares([1] * 8 + [0] * 2, "items")
    >>> (plain.low, plain.high) == wilson(8, 10)
    True
    """
    if not shares:
        return Figure(None, None, None, None, 0, over)
    rate, n = effective_count(shares)
    low, high = wilson(rate * n, n, level)
    is_plain = all(share in (0, 1) for share in shares)
    return Figure(rate, low, high, round(sum(shares)) if is_plain else None, len(shares), over)


def effective_count(shares: Sequence[float]) -> tuple[float, float]:
    """Return the mean of shares, and the number of undivided items of the same variance.

    >>> effective_count([1, 0, 0, 1])
    (0.5, 4.0)
    >>> effective_count([0.5, 1, 0, 0.5])
    (0.5, 5.333333333333333)
    """
    n = float(len(shares))
    rate = math.fsum(shares) / n
    undivided = rate * (1 - rate)
    if not undivided:
        return rate, n
    spread = math.fsum((share - rate) ** 2 for share in shares) + PRIOR_ITEMS * undivided
    return rate, max(n, n * (n + PRIOR_ITEMS) * undivided / spread)
