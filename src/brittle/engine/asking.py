"""Who answers the questions of a run, where answers are kept, and what was asked so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from brittle.engine.desks import Failures


class Journal(Protocol):
    """Where answers that cost something are kept before they are used."""

    def find(self, question: str, keys: Sequence[bytes]) -> dict[bytes, Any]: ...

    def keep(
        self,
        question: str,
        answers: Sequence[tuple[bytes, Any]],
        tokens: tuple[int, int] = (0, 0),
    ) -> None: ...


@dataclass(frozen=True)
class JointJournal:
    """The journal of a run, and one of several runs: what one of them has asked, no other asks."""

    own: Journal
    shared: Journal

    def find(self, question: str, keys: Sequence[bytes]) -> dict[bytes, Any]:
        found = self.own.find(question, keys)
        missing = [key for key in keys if key not in found]
        return found | self.shared.find(question, missing)

    def keep(
        self,
        question: str,
        answers: Sequence[tuple[bytes, Any]],
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        self.shared.keep(question, answers, tokens)
        self.own.keep(question, answers, tokens)


class Asker(Protocol):
    """Who answers the first questions of a run: a broker, or a worker in its place."""

    @property
    def most_sent(self) -> int | None: ...

    @property
    def left(self) -> int | None: ...

    def answer(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]: ...

    def alone(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]: ...


@dataclass
class Totals:
    """What a broker has done so far on counted desks; `sent` counts the items really computed.

    Of a target that counts them, the tokens that it read and wrote are here too.
    """

    asked: int = 0
    sent: int = 0
    calls: int = 0
    busy: float = 0.0
    tokens_read: int = 0
    tokens_written: int = 0

    def add(self, other: Totals) -> None:
        """Add what another broker has done."""
        self.asked += other.asked
        self.sent += other.sent
        self.calls += other.calls
        self.busy += other.busy
        self.tokens_read += other.tokens_read
        self.tokens_written += other.tokens_written

    @property
    def tokens(self) -> int:
        return self.tokens_read + self.tokens_written
