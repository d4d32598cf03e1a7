"""Desks: who answers which question, and how they want to be asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.errors import RunStopped, TargetError, UsageError

Failures = dict[int, Exception]
FLIPS_CACHED = 4096  # a search hardly asks for the edits of one text twice, and they are large


@dataclass(frozen=True)
class Desk:
    """Who answers one question, and how they want to be asked.

    `compute` takes items, or, with `from_keys`, their canonical keys, and gives a payload for each.
    What a `counted` desk computes is a query that was really sent; `cache` is how many answers are
    remembered, if not the broker's own number.
    """

    compute: Callable[[Sequence[Any]], Sequence[Any]]
    canonical: Callable[[Sequence[Any]], list[bytes]] | None = None
    from_keys: bool = False
    parallel: int = 1
    batch: int | None = None
    costly: bool = False
    watched: bool = False
    counted: bool = False
    cache: int | None = None


def make_desks(target: Any) -> dict[str, Desk]:
    """Make the desks of a target that classifies: its scores, and its flips where it has them."""
    made = {"scores": make_scores_desk(target)}
    if hasattr(target, "flips"):
        made["flips"] = Desk(
            target.flips,
            parallel=getattr(target, "parallel", 1),
            watched=getattr(target, "in_process", True),
            counted=True,
            cache=FLIPS_CACHED,
        )
    return made


def make_scores_desk(target: Any) -> Desk:
    """Make the desk of a target that classifies, from what the target offers."""
    width = len(target.labels)
    canonical = getattr(target, "canonical", None)
    from_keys = canonical is not None and hasattr(target, "canonical_scores")
    score = target.canonical_scores if from_keys else target.scores

    answered = False

    def compute(batch: Sequence[Any]) -> list[Any]:
        nonlocal answered
        try:
            rows = np.asarray(score(batch), dtype=np.float64)
        except UsageError as error:
            # A target that has answered before is called rightly: it is this text that it fails on.
            if answered:
                raise TargetError(str(error)) from error
            raise
        if rows.shape != (len(batch), width):
            raise TargetError(
                f"Target {target.name!r} answered an array of shape {rows.shape} for "
                f"{len(batch)} texts; expected ({len(batch)}, {width}): a row for every text and "
                f"a column for every label ({', '.join(target.labels)})."
            )
        if not np.isfinite(rows).all():
            raise TargetError(f"Target {target.name!r} answered scores that are not finite (NaN).")
        answered = True
        return rows.tolist()  # type: ignore[no-any-return]

    return Desk(
        compute,
        canonical,
        from_keys,
        parallel=getattr(target, "parallel", 1),
        batch=getattr(target, "batch", None),
        costly=getattr(target, "costly", False),
        watched=getattr(target, "in_process", True),
        counted=True,
    )


def compute_by_halves(
    compute: Callable[[Sequence[Any]], Sequence[Any]], items: Sequence[Any]
) -> tuple[list[Any], Failures]:
    """Compute a batch; if it fails, halve it until the failing items are alone."""
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
    """What one batch took, halves sent again included."""

    items: int = 0
    calls: int = 0
    seconds: float = 0.0


def compute_batch(
    desk: Desk, batch: list[bytes], items: dict[bytes, Any]
) -> tuple[list[Any], Failures, BatchCost]:
    """Compute a batch given by its keys, and say what that took."""
    given = batch if desk.from_keys else [items[key] for key in batch]
    work = BatchCost()

    def compute(part: Sequence[Any]) -> Sequence[Any]:
        work.calls += 1
        work.items += len(part)
        return desk.compute(part)

    start = time.perf_counter()
    payloads, failures = compute_by_halves(compute, given)
    work.seconds = time.perf_counter() - start
    return payloads, failures, work
