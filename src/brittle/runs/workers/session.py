"""A worker: an engine that pulls its cases from the driver, and sends back finished rows."""

from __future__ import annotations

import os
import queue
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, cast

from brittle.asks import Case
from brittle.engine.asking import Totals
from brittle.engine.broker import Broker
from brittle.engine.desks import Failures
from brittle.errors import BrittleError, RunStopped, TargetError, message_of
from brittle.runs.job import build_engine
from brittle.runs.rows import rows_of
from brittle.runs.workers.messages import (
    Allowed,
    Asks,
    Dealt,
    FinishedCases,
    Ready,
    Refused,
    Reply,
    Report,
    Stop,
    TargetAnswers,
    TargetQuestion,
    Wants,
    WillSend,
    WorkerEnded,
)
from brittle.runs.workers.setup import WorkerSetup
from brittle.targets.capabilities import make_desks

CASES_AT_A_TIME = 8


class Link(Protocol):
    """The worker's end of the connection to the driver."""

    def send(self, report: Report) -> None: ...

    def receive(self) -> Any:
        """Wait for the next message of the driver."""
        ...


class Client:
    """Talks to the driver: sends reports, waits for replies, and notes that the run is to stop."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.stopping = threading.Event()
        self.totals = Totals()
        self.left: int | None = None
        self._reported = Totals()
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True, name="brittle-driver").start()

    def tell(self, message: Any) -> None:
        """Send a message, with what was computed since the last one."""
        now, before = asdict(self.totals), asdict(self._reported)
        self._reported = Totals(**now)
        self.link.send(Report(message, Totals(**{k: now[k] - before[k] for k in now})))

    def request(self, message: Any) -> Any:
        """Send a message and wait for the reply."""
        self.tell(message)
        reply = self._replies.get()
        if isinstance(reply, Refused):
            raise reply.error
        self.left = reply.left
        return reply

    def _listen(self) -> None:
        while (message := self.link.receive()) is not None:
            if isinstance(message, Stop):
                self.stopping.set()
            else:
                self._replies.put(message)


@dataclass
class WorkerBroker(Broker):
    """A broker that asks the driver for what is the whole run's: its limit, and its costly target.

    Few cases run at a time under a limit, so each worker reckons with its part of what is left.
    """

    client: Client = field(kw_only=True)
    forwarded: frozenset[str] = frozenset()
    workers: int = 1

    @property
    def left(self) -> int | None:
        left = self.client.left
        return None if self.most_sent is None or left is None else left // self.workers

    def grant(self, count: int) -> int:
        if self.most_sent is None:
            return count
        reply: Allowed = self.client.request(WillSend(count))
        return reply.count

    def answer(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]:
        if question in self.forwarded:
            return self._forward(question, items, alone=False)
        return super().answer(question, items)

    def alone(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]:
        if question in self.forwarded:
            return self._forward(question, items, alone=True)
        return super().alone(question, items)

    def _forward(
        self, question: str, items: Sequence[Any], alone: bool
    ) -> tuple[list[Any], Failures]:
        reply: TargetAnswers = self.client.request(Asks(question, items, alone))
        return list(reply.payloads), reply.failures


def work(link: Link, load_setup: Callable[[], WorkerSetup]) -> None:
    """Attack cases until the driver has no more, or stops the run."""
    client = Client(link)
    try:
        setup = load_setup()
        target = setup.open()
        try:
            _attack_cases(client, setup, target)
        finally:
            if hasattr(target, "close"):
                target.close()
    except BrittleError as error:
        client.tell(WorkerEnded(error))
    except Exception as error:
        client.tell(
            WorkerEnded(RunStopped(f"A worker failed: {message_of(error)}. {_last_line()}"))
        )
    else:
        client.tell(WorkerEnded())


def _attack_cases(client: Client, setup: WorkerSetup, target: Any) -> None:
    job = setup.job
    desks = make_desks(target if target is not None else job.target, job.all_helpers)
    broker = WorkerBroker(
        desks,
        watchdog=setup.limits.watchdog,
        most_sent=setup.limits.max_sent,
        batch=setup.limits.batch,
        totals=client.totals,
        stopping=client.stopping,
        client=client,
        forwarded=setup.forwarded,
        workers=setup.workers,
    )
    engine = build_engine(job, broker, setup.limits.budget)
    engine.patience = sys.maxsize  # the driver counts over all workers
    place = f"{socket.gethostname()}, process {os.getpid()}"
    is_named = setup.origin is not None and setup.origin.is_named
    client.tell(Ready(place, target.fingerprint if is_named else None))
    try:
        while first := _fetch_first(client, setup, broker).cases:
            for ended in engine.run(DealtCases(client, setup, first)):
                client.tell(FinishedCases(*rows_of(ended, job, broker.answer)))
    finally:
        broker.close()


def _fetch(client: Client, setup: WorkerSetup, is_idle: bool) -> Any:
    """Ask the driver for cases; under a limit on the run a case is asked for when it begins."""
    count = CASES_AT_A_TIME if setup.limits.max_sent is None else 1
    return client.request(Wants(count, is_idle))


def _fetch_first(client: Client, setup: WorkerSetup, broker: WorkerBroker) -> Dealt:
    """Ask the driver for cases, and answer what it wants to know before it deals some."""
    dealt = _fetch(client, setup, is_idle=True)
    while isinstance(dealt, TargetQuestion):
        answer = broker.alone if dealt.alone else broker.answer
        payloads, failures = answer(dealt.question, dealt.items)
        # An exception of a target's own may not be known where the driver runs.
        failed: Failures = {n: TargetError(message_of(e)) for n, e in failures.items()}
        dealt = client.request(Reply(payloads, failed))
    return cast(Dealt, dealt)


class DealtCases(Iterator[Case[Any]]):
    """Yields the cases that the driver deals; it may end now and go on later."""

    def __init__(self, client: Client, setup: WorkerSetup, first: Sequence[Case[Any]]) -> None:
        self._client, self._setup = client, setup
        self._cases: list[Case[Any]] = list(reversed(first))
        self._has_more = True

    def __next__(self) -> Case[Any]:
        if not self._cases and self._has_more:
            dealt = _fetch(self._client, self._setup, is_idle=False)
            self._cases, self._has_more = list(reversed(dealt.cases)), dealt.more
        if not self._cases:
            raise StopIteration
        return self._cases.pop()


def _last_line() -> str:
    """Say where in the code the present exception was raised."""
    trace = sys.exc_info()[2]
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = None if trace is None else trace.tb_frame.f_code
    where = "" if trace is None or code is None else f"{code.co_filename}, line {trace.tb_lineno}"
    return f"(In {where}.)"
