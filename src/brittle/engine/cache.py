"""The answers of a desk that are kept in memory up to a bound, and the keys they are kept under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.engine.desks import Desk, Failures, compute_by_halves


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
    """Return the key of every item; None where it cannot be computed, with the failure."""
    find_keys = desk.canonical or _own_keys
    try:
        return list(find_keys(items)), {}
    except Exception:
        return compute_by_halves(find_keys, items)


def _own_keys(items: Sequence[Any]) -> list[bytes]:
    return [item.key for item in items]
