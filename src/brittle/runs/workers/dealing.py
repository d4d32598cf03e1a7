"""Which cases go to which worker, and what becomes of those whose worker died."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from brittle.asks import Case

LEAST_SHARE = 4
"""The number of cases that a worker may always hold: fewer would make small batches."""
SUSPECTS_AT_A_TIME = 8
"""How many cases of a dead worker are tried together, before each is tried alone."""


class Dealing:
    """The cases that are still to be attacked, and who holds those that were dealt.

    A worker holds half of its share of what is unfinished, so that all end at about the same time.
    Cases of a dead worker are *suspects*: one of them may have killed it. They are dealt when all
    others are, to idle workers; after a second death each is alone with its worker. A case that is
    alone with a worker at its second death has killed it.
    """

    def __init__(self, cases: Iterator[Case[Any]], count: int, workers: int) -> None:
        self._cases = cases
        self._undealt = count
        self._workers = workers
        self._held: dict[int, dict[str, Case[Any]]] = {}
        self._suspects: list[Case[Any]] = []
        self._deaths: dict[str, int] = {}

    @property
    def has_more(self) -> bool:
        """Tell whether there are cases to deal to workers that are not idle."""
        return self._undealt > 0

    @property
    def unfinished(self) -> int:
        held = sum(map(len, self._held.values()))
        return self._undealt + len(self._suspects) + held

    def deal(self, worker: int, count: int, is_idle: bool) -> list[Case[Any]]:
        """Choose up to `count` cases for a worker, and note that it holds them."""
        held = self._held.setdefault(worker, {})
        share = max(LEAST_SHARE, -(-self.unfinished // (2 * self._workers)))
        cases = list(islice(self._cases, max(0, min(count, share - len(held)))))
        self._undealt -= len(cases)
        if is_idle and not cases and self._suspects:
            cases = self._take_suspects()
        held.update({case.id: case for case in cases})
        return cases

    def finish(self, worker: int, case: str) -> None:
        self._held[worker].pop(case, None)

    def take_back(self, worker: int) -> list[Case[Any]]:
        """Take back the cases of a dead worker; return those that have killed it."""
        held = list(self._held.pop(worker, {}).values())
        for case in held:
            self._deaths[case.id] = self._deaths.get(case.id, 0) + 1
        if len(held) == 1 and self._deaths[held[0].id] > 1:
            return held
        self._suspects += held
        return []

    def _take_suspects(self) -> list[Case[Any]]:
        first_time = [case for case in self._suspects if self._deaths[case.id] == 1]
        cases = first_time[:SUSPECTS_AT_A_TIME] or self._suspects[:1]
        chosen = {case.id for case in cases}
        self._suspects = [case for case in self._suspects if case.id not in chosen]
        return cases
