"""Desks: who answers a question, and how it is asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.errors import RunStopped, TargetError, UsageError

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
    long item is found faster than its key, and takes less memory.
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
    return payloads, failures, cost
