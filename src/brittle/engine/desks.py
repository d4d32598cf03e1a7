"""Desks: who answers a question, in batches of which size, and which answers are kept.

The batches of a desk: how large they are, found while it computes, and where they are cut. The
answers of a desk that are kept in memory up to a bound, and the keys they are kept under. Desks:
who answers a question, and how it is asked.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, TypeVar

from brittle.errors import RunStopped, TargetError, UsageError

T = TypeVar("T")

MAX_BATCH = 1 << 21
"""The largest sum of the sizes of a batch's items: more fills memory and is not faster."""


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


Failures = dict[int, Exception]


class Digest(bytes):
    """A short stand-in of the own key of a long item, found without that key."""


@dataclass(frozen=True)
class Desk:
    """Who answers one question, and how it is asked.

    `compute` takes items, or, with `from_keys`, their canonical keys, and returns a payload for
    each. The items that a `counted` desk computes are counted as sent. `cache` is the number of
    answers to keep, if it is not the broker's own; 0 is none. If it `gives_answers`, its payloads
    hold, as `scores`, the target's answers about the same items, which are then not asked for
    again. `digests` returns a short stand-in of the canonical key for each item, or None: that of a
    long item is found faster than its key, and takes less memory. Every item is computed `repeats`
    times, and `join` makes one payload of these. `spent` returns the tokens that this thread used
    since it was last called: read and written.
    """

    compute: Callable[[Sequence[Any]], Sequence[Any]]
    canonical: Callable[[Sequence[Any]], list[bytes]] | None = None
    digests: Callable[[Sequence[Any]], Sequence[bytes | None]] | None = None
    from_keys: bool = False
    parallel: int = 1
    batch: int | None = None
    costly: bool = False
    watched: bool = False
    counted: bool = False
    cache: int | None = None
    gives_answers: bool = False
    repeats: int = 1
    join: Callable[[Sequence[Any]], Any] | None = None
    spent: Callable[[], tuple[int, int]] | None = None


def own_keys(desk: Desk, items: Sequence[Any]) -> list[bytes]:
    """Return the canonical keys of items, or, if the target has none, the items' own."""
    return list(desk.canonical(items)) if desk.canonical else [item.key for item in items]


def full_keys(desk: Desk, keys: Sequence[bytes], items: Mapping[bytes, Any]) -> list[bytes]:
    """Return the keys with the own key of an item in place of its digest."""
    if Digest not in set(map(type, keys)):
        return list(keys)
    long: list[bytes] = [key for key in keys if isinstance(key, Digest)]
    own = dict(zip(long, own_keys(desk, [items[key] for key in long])))
    return [own.get(key, key) for key in keys]


def repeated_keys(desk: Desk, items: Mapping[bytes, Any]) -> dict[bytes, list[bytes]]:
    """Return for every key those under which the answers on its item are kept, one a repeat."""
    own = full_keys(desk, list(items), items)
    return {
        key: [full + f"\0repeat {n}".encode() for n in range(desk.repeats)]
        for key, full in zip(items, own)
    }


def compute_by_halves(
    compute: Callable[[Sequence[Any]], Sequence[Any]], items: Sequence[Any]
) -> tuple[list[Any], Failures]:
    """Compute a batch; if it fails, halve it until the failing items are alone."""
    if not items:
        return [], {}
    try:
        payloads = list(compute(items))
        if len(payloads) != len(items):
            raise TargetError(f"Got {len(payloads)} answers for {len(items)} items.")
        return payloads, {}
    except RunStopped:
        raise
    except Exception as error:
        if len(items) == 1:
            if isinstance(error, UsageError):
                raise
            return [None], {0: error}
    half = len(items) // 2
    left, failed_left = compute_by_halves(compute, items[:half])
    right, failed_right = compute_by_halves(compute, items[half:])
    return left + right, failed_left | {half + n: error for n, error in failed_right.items()}


@dataclass
class BatchCost:
    """What one batch cost, with the halves that were sent again."""

    items: int = 0
    calls: int = 0
    seconds: float = 0.0
    tokens_read: int = 0
    tokens_written: int = 0


def compute_batch(
    desk: Desk, batch: list[bytes], items: dict[bytes, Any]
) -> tuple[list[Any], Failures, BatchCost]:
    """Compute a batch given by its keys; return payloads, failures and the cost."""
    whole: Sequence[Any] = (
        full_keys(desk, batch, items) if desk.from_keys else [items[key] for key in batch]
    )
    cost = BatchCost()

    def compute(part: Sequence[Any]) -> Sequence[Any]:
        cost.calls += 1
        cost.items += len(part)
        return desk.compute(part)

    start = time.perf_counter()
    payloads, failures = compute_by_halves(compute, whole)
    cost.seconds = time.perf_counter() - start
    if desk.spent is not None:
        cost.tokens_read, cost.tokens_written = desk.spent()
    return payloads, failures, cost


class Cache:
    """Two generations of answers: when the young one is full, it becomes the old one.

    `size` is a number of answers with short keys; long keys count by the kilobyte. Of 0, nothing is
    kept.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.filled = 0
        self.young: dict[bytes, Any] = {}
        self.old: dict[bytes, Any] = {}

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        young, old = self.young, self.old
        answers = {key: young[key] for key in keys if key in young}
        if old:
            aged = {key: old[key] for key in keys if key in old and key not in answers}
            if aged:
                self.keep(aged)
                answers.update(aged)
        return answers

    def keep(self, answers: Mapping[bytes, Any]) -> None:
        if not self.size:
            return
        weight = len(answers) + sum(map(len, answers)) // 1024
        if self.filled + weight > self.size and self.young:
            self.young, self.old, self.filled = {}, self.young, 0
        self.young.update(answers)
        self.filled += weight


def cache_keys(desk: Desk, items: Sequence[Any]) -> tuple[list[Any], Failures]:
    """Return the key of every item; None where it cannot be computed, with the failure.

    Of a long item it is a digest, where the target or the item itself has one.
    """
    find_keys = partial(_keys_or_digests, desk)
    try:
        return find_keys(items), {}
    except Exception:
        return compute_by_halves(find_keys, items)


def _keys_or_digests(desk: Desk, items: Sequence[Any]) -> list[bytes]:
    digests: Sequence[bytes | None] = ()
    if desk.canonical is None:
        digests = [getattr(item, "digest", None) for item in items]
    elif desk.digests is not None:
        digests = desk.digests(items)
    if not any(digests):
        return own_keys(desk, items)
    short = [n for n, digest in enumerate(digests) if digest is None]
    keys = dict(zip(short, own_keys(desk, [items[n] for n in short])))
    return [keys[n] if digest is None else Digest(digest) for n, digest in enumerate(digests)]
