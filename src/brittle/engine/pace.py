"""The batches of a desk: how large they are, found while it computes, and where they are cut."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import TypeVar

T = TypeVar("T")

MAX_BATCH = 1 << 21
"""The sum of the sizes of a batch's items: more would fill memory, and is no faster."""


class BatchSize:
    """Finds a good batch size: it is doubled while the bytes computed per second still grow."""

    LARGEST = 1024
    FIRST = 64
    MIN_GAIN = 1.05  # of the rate, for a larger size to be worth it

    def __init__(self, fixed: int | None) -> None:
        self.size = fixed or self.FIRST
        self._settled = fixed is not None
        self._rates: list[float] = []
        self._last = 0.0

    def note(self, rows: int, rate: float) -> None:
        """Note the rate of a batch; two full batches decide about a size."""
        if self._settled or rows < self.size:
            return
        self._rates.append(rate)
        if len(self._rates) < 2:
            return
        best, self._rates = max(self._rates), []
        if best < self._last * self.MIN_GAIN:
            self.size //= 2
            self._settled = True
        else:
            self._last = best
            self.size *= 2
            self._settled = self.size > self.LARGEST // 2


def cut_batches(items: list[T], sizes: list[int], most: int, workers: int) -> list[list[T]]:
    """Cut items into batches of at most `most`.

    What all workers can take at once is shared out by size, so that they end at the same time.

    >>> cut_batches(list("abcdef"), [1, 1, 1, 1, 2, 2], 4, 2)
    [['a', 'b', 'c', 'd'], ['e', 'f']]
    >>> cut_batches(list("abcde"), [1] * 5, 2, 1)
    [['a', 'b'], ['c', 'd'], ['e']]

    Items are sorted by size; of large ones fewer are in a batch.
    """
    count = len(items)
    if count and sizes[-1] * most > MAX_BATCH:
        return list(_cut_by_size(items, sizes, most))
    if workers == 1 or count > most * workers:
        return [items[start : start + most] for start in range(0, count, most)]
    totals = list(accumulate(sizes, initial=0))
    batches, start = [], 0
    for number in range(1, workers + 1):
        share = number * totals[-1] / workers
        stop = min(bisect_left(totals, share), count)
        if stop and share - totals[stop - 1] < totals[stop] - share:
            stop -= 1
        # No batch is too large, neither this one nor those of the workers after it.
        stop = min(max(stop, start, count - most * (workers - number)), start + most, count)
        if stop > start:
            batches.append(items[start:stop])
        start = stop
    return batches


def _cut_by_size(items: list[T], sizes: list[int], most: int) -> Iterator[list[T]]:
    batch: list[T] = []
    total = 0
    for item, size in zip(items, sizes):
        if batch and (len(batch) == most or total + size > MAX_BATCH):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    yield batch
