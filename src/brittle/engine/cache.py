"""The answers of a desk that are kept in memory up to a bound, and the keys they are kept under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from brittle.engine.desks import Desk, Digest, Failures, compute_by_halves, own_keys


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
