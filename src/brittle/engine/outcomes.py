"""How a case ended, and what was found on the way; nothing here knows what an item is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brittle.asks import Case, Status


@dataclass(frozen=True)
class Improvement:
    """The best candidate of a case so far, at its query number.

    Of a search that goes on after a win, `cost` is a winner's; the cheapest winner is best.
    """

    query: int
    loss: float
    item: Any
    payload: Any
    cost: float | None = None


@dataclass(frozen=True)
class ItemKept:
    """An item that the search kept for the report, with the target's answer if it was asked."""

    name: str
    item: Any
    payload: Any = None
    cost: float | None = None


@dataclass(frozen=True)
class Outcome:
    """How one case ended. `best` is the winner, or the candidate that came nearest.

    Of a search that samples, `tried` counts the samples, and `won` those that reached the goal.
    `proved_words` is what the search noted: up to how many changed words nothing reaches the goal.
    """

    case: Case[Any]
    status: Status
    reason: str
    queries: int
    steps: tuple[Improvement, ...] = ()
    best: Improvement | None = None
    tried: int | None = None
    won: int | None = None
    kept_items: tuple[ItemKept, ...] = ()
    proved_words: int | None = None
