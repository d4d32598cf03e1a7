"""What driver and worker say to each other, and what a driver needs of where they live.

What driver and worker say to each other.

A worker sends `Report`s. `Wants`, `Asks` and `WillSend` are requests: the worker waits for the
reply, which is `Dealt`, `TargetAnswers`, `Allowed` or `Refused`. An idle worker may get a
`TargetQuestion` in place of cases; its `Reply` is again a request for cases. `Stop` comes without a
request.

What a driver needs of the place where its workers live.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from brittle.asks import Case
from brittle.engine.asking import Totals
from brittle.engine.desks import Failures
from brittle.errors import BrittleError
from brittle.results import Result, Step


@dataclass(frozen=True)
class Ready:
    """The worker has opened its target; `place` says on which machine, in which process.

    It has no `fingerprint` if the target is the driver's, or an object that was sent.
    """

    place: str
    fingerprint: str | None


@dataclass(frozen=True)
class Wants:
    """The worker wants up to `count` cases; one that `is_idle` waits until there are some."""

    count: int
    is_idle: bool


@dataclass(frozen=True)
class Asks:
    """A question to a target that the driver alone asks; `alone` is the check of winners."""

    question: str
    items: Sequence[Any]
    alone: bool


@dataclass(frozen=True)
class WillSend:
    """The worker is about to compute so many items, of which the whole run may be limited."""

    count: int


@dataclass(frozen=True)
class FinishedCases:
    """Cases that ended, as rows to be stored."""

    results: Sequence[Result]
    steps: Sequence[Step]


@dataclass(frozen=True)
class Reply:
    """What the target of the worker answers to a question of the driver's."""

    payloads: Sequence[Any]
    failures: Failures


@dataclass(frozen=True)
class WorkerEnded:
    """The worker ends: by an error, or because there is nothing left to do."""

    error: BrittleError | None = None


@dataclass(frozen=True)
class Report:
    """A message of a worker, with what it has computed since its last one."""

    message: Ready | Wants | Asks | WillSend | FinishedCases | Reply | WorkerEnded
    totals: Totals = field(default_factory=Totals)


@dataclass(frozen=True)
class Dealt:
    """Cases to attack. `left` is what the whole run may still send, None if that is not limited.

    Without `more` there is nothing to ask for until the worker is idle; an idle worker that gets
    no cases ends.
    """

    cases: Sequence[Case[Any]]
    more: bool
    left: int | None


@dataclass(frozen=True)
class TargetQuestion:
    """What the driver wants to know of the target before it deals cases, as the diagnosis does."""

    question: str
    items: Sequence[Any]
    alone: bool
    left: int | None


@dataclass(frozen=True)
class TargetAnswers:
    """The answers of the target that the driver asked."""

    payloads: Sequence[Any]
    failures: Failures
    left: int | None


@dataclass(frozen=True)
class Allowed:
    """How many of the items may be computed, and what the whole run may send after them."""

    count: int
    left: int | None


@dataclass(frozen=True)
class Refused:
    """A request that cannot be answered any more: the run stops."""

    error: BrittleError


@dataclass(frozen=True)
class Stop:
    """Stop after the batch that is under way."""


@dataclass(frozen=True)
class Died:
    """A worker is gone without a word; made by the driver's side."""

    how: str


class WorkerGroup(Protocol):
    """Where workers live; they are numbered."""

    def start(self, number: int) -> None:
        """Start a worker, or one more in place of a dead one."""
        ...

    def send(self, number: int, message: Any) -> None:
        """Send a message; one to a worker that is gone is lost."""
        ...

    def wait(self, seconds: float) -> list[tuple[int, Report | Died]]:
        """Wait until workers have sent something, or for so many seconds."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...
