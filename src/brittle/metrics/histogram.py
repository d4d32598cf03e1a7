"""Histograms of whole numbers, such as the words that broken cases changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from brittle.results import Result

MAX_BINS = 40


@dataclass(frozen=True)
class Bin:
    """`count` values from `low` to `high`, both included."""

    low: int
    high: int
    count: int


@dataclass(frozen=True)
class Histogram:
    """`of` whole numbers counted in bins of one width, without gaps between them."""

    bins: tuple[Bin, ...]
    of: int

    @property
    def width(self) -> int:
        return self.bins[0].high - self.bins[0].low + 1 if self.bins else 1


def words_histogram(results: Sequence[Result], max_bins: int = MAX_BINS) -> Histogram:
    """Count the broken cases by the number of words they changed.

    >>> from brittle.metrics.samples import sample_results
    >>> [(b.low, b.count) for b in words_histogram(sample_results()).bins]
    [(1, 2), (2, 1)]
    """
    return histogram([r.words_changed for r in results if r.status == "broken"], max_bins)


def histogram(values: Sequence[int], max_bins: int = MAX_BINS) -> Histogram:
    """Count whole numbers (0 or more) in at most `max_bins` bins, no wider than needed.

    Bins begin at 1, or at 0 if a value is 0, and are 1, 2, 5, 10, 20 … wide.

    >>> histogram([1, 1, 4]).bins[1:3]
    (Bin(low=2, high=2, count=0), Bin(low=3, high=3, count=0))
    >>> histogram([3, 7, 12], max_bins=3).bins
    (Bin(low=1, high=5, count=1), Bin(low=6, high=10, count=1), Bin(low=11, high=15, count=1))
    """
    if not values:
        return Histogram((), 0)
    first = min(1, *values)
    span = max(values) - first + 1
    widths = (step * 10**exponent for exponent in count() for step in (1, 2, 5))
    width = next(width for width in widths if -(-span // width) <= max_bins)
    counts = [0] * ((max(values) - first) // width + 1)
    for value in values:
        counts[(value - first) // width] += 1
    lows = range(first, first + width * len(counts), width)
    bins = (Bin(low, low + width - 1, held) for low, held in zip(lows, counts))
    return Histogram(tuple(bins), len(values))
