"""How a case ended, and what was found on the way; nothing here knows what an item is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brittle.asks import Case
from brittle.statuses import LevelStatus, Status


@dataclass(frozen=True)
class Improvement:
    """The best candidate of a case so far, at its query number.

    Of a search that goes on after a win, `cost` is a winner's; the cheapest winner is best. `level`
    is how rough the edits are, if the search says so.
    """

    query: int
    loss: float
    item: Any
    payload: Any
    cost: float | None = None
    level: str | None = None


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
    `proved_words` and `single_swaps` are what the search noted: with how many changed words nothing
    reaches the goal, and how many texts have one word changed; `levels` how the case stands at each
    level of edits that was tried, and `random_edits` how many were asked, and how many won.
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
    single_swaps: int | None = None
    levels: Mapping[str, LevelStatus] = field(default_factory=dict)
    random_edits: tuple[int, int] | None = None
