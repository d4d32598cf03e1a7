"""The driver: deals cases to workers, yields their rows, and keeps what is global to a run.

Which cases go to which worker, and what becomes of those whose worker died.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from brittle.asks import Case
from brittle.engine.broker import Broker
from brittle.engine.desks import Failures
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome, all_failed
from brittle.errors import (
    BrittleError,
    Interrupted,
    LimitReached,
    RunStopped,
    TargetError,
    UsageError,
    message_of,
)
from brittle.results import Result
from brittle.runs.job import Job
from brittle.runs.rows import FinishedRows, result_of
from brittle.runs.workers.messages import (
    Allowed,
    Asks,
    Dealt,
    Died,
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
    WorkerGroup,
)
from brittle.text import Text

LEAST_SHARE = 4
"""The number of cases that a worker may always have: fewer would make small batches."""
SUSPECTS_AT_A_TIME = 8
"""How many cases of a dead worker are tried together before each is tried alone."""


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


SECONDS_BETWEEN_LOOKS = 0.2
MAX_SHOWN_CHARACTERS = 200  # of a text that ends the process
MAX_DEATHS_IN_A_ROW = 5
"""How many workers may die in a row, without a finished case, before the run stops."""


@dataclass
class _Asked:
    """A question to a worker, and what came of it: the reply, or how the worker died."""

    worker: int
    question: TargetQuestion
    wants: Wants
    reply: Reply | None = None
    death: str | None = None


@dataclass
class Driver:
    """Runs the workers of one run; `warn` is told which worker died.

    `error` is why the run stops, `places` are those of the workers that have opened the target.
    `idle` workers wait for cases, `questions` for the target; `granted` are items that workers may
    compute and have not yet reported. `deaths` and `failing` count workers and cases in a row.
    Before cases are dealt, a worker may be `asked` a question.
    """

    group: WorkerGroup
    dealing: Dealing
    broker: Broker
    job: Job
    workers: int
    warn: Callable[[str], None]
    error: BrittleError | None = None
    running: set[int] = field(default_factory=set)
    places: dict[int, str] = field(default_factory=dict)
    idle: dict[int, Wants] = field(default_factory=dict)
    questions: list[tuple[int, Asks]] = field(default_factory=list)
    granted: dict[int, int] = field(default_factory=dict)
    deaths: int = 0
    failing: int = 0
    is_dealing: bool = False
    asked: _Asked | None = None

    def start(self) -> None:
        """Start the workers, which need time to open the target."""
        for number in range(1, self.workers + 1):
            self.group.start(number)
            self.running.add(number)

    def rows(self) -> Iterator[FinishedRows]:
        """Yield the rows of finished cases as they come; raise what has stopped the run."""
        self.is_dealing = True
        while self.running:
            yield from self._listen()
            self._answer_questions()
            self._deal_to_idle()
            if not self.dealing.unfinished:
                # Nobody waits for one that is still opening the target, or finds no place.
                self.running &= self.places.keys()
        if self.error is not None:
            raise self.error

    def ask(self, question: str, items: Sequence[Any], alone: bool) -> tuple[list[Any], Failures]:
        """Have a worker ask its target before cases are dealt; `TargetError` if the worker dies."""
        while not self.idle:
            self._listen_or_raise()
        number, wants = self.idle.popitem()
        self.asked = asked = _Asked(
            number, TargetQuestion(question, items, alone, self._left), wants
        )
        self.group.send(number, asked.question)
        while asked.reply is None and asked.death is None:
            self._listen_or_raise()
        self.asked = None
        if asked.reply is None:
            raise TargetError(f"the worker died that was asked about this ({asked.death})")
        return list(asked.reply.payloads), asked.reply.failures

    def _listen_or_raise(self) -> None:
        """Wait for reports while no cases are dealt; raise what has stopped the run."""
        for _ in self._listen():
            pass
        if self.error is not None:
            raise self.error
        if not self.running:
            raise RunStopped("All workers ended before they got a first case.")

    def _listen(self) -> Iterator[FinishedRows]:
        """Wait a moment for reports of workers, and yield the rows in them."""
        if self.broker.stopping.is_set() and self.error is None:
            self._stop(Interrupted("Stopped on request after the current round."))
        for number, report in self.group.wait(SECONDS_BETWEEN_LOOKS):
            if isinstance(report, Died):
                yield from self._end_worker(number, report.how)
            else:
                yield from self._receive(number, report)

    def _receive(self, number: int, report: Report) -> Iterator[FinishedRows]:
        """Note what a worker has computed, and reply to what it wants."""
        self.granted.pop(number, None)
        self.broker.totals.add(report.totals)
        match report.message:
            case FinishedCases(results, steps):
                yield results, steps
                self._note(number, results)
            case Wants(count, is_idle) as wants:
                deals = self.is_dealing and not self.error
                cases = self.dealing.deal(number, count, is_idle) if deals else []
                if is_idle and not cases:
                    self.idle[number] = wants
                else:
                    self._deal(number, cases)
            case WillSend(count):
                left = self._left
                allowed = count if left is None else min(count, left)
                self.granted[number] = allowed
                self.group.send(number, Allowed(allowed, self._left))
            case Asks() as question:
                self.questions.append((number, question))
            case Reply() as reply:
                if self.asked is not None and self.asked.worker == number:
                    self.asked.reply = reply
                    self.idle[number] = self.asked.wants
            case Ready(place, fingerprint):
                self.places[number] = place
                self._check(number, fingerprint)
            case WorkerEnded(error):
                self.running.discard(number)
                self._end(number, error)

    @property
    def _left(self) -> int | None:
        """What may still be sent, without what workers were granted and have not yet reported."""
        left = self.broker.left
        return None if left is None else max(0, left - sum(self.granted.values()))

    def _deal(self, number: int, cases: Sequence[Any]) -> None:
        has_more = self.dealing.has_more and self.error is None
        self.group.send(number, Dealt(cases, has_more, self._left))

    def _deal_to_idle(self) -> None:
        """Deal what a dead worker has left to those that wait; end them if there is nothing."""
        for number, wants in list(self.idle.items()):
            cases = [] if self.error else self.dealing.deal(number, wants.count, True)
            if cases or self.error or not self.dealing.unfinished:
                del self.idle[number]
                self._deal(number, cases)

    def _note(self, number: int, results: Sequence[Result]) -> None:
        self.deaths = 0
        for result in results:
            self.dealing.finish(number, result.case)
            self.failing = self.failing + 1 if result.status == "error" else 0
        if self.failing >= Engine.patience:
            self._stop(all_failed(self.failing, results[-1].reason, self.job.attack_name))

    def _answer_questions(self) -> None:
        """Ask the target what workers want to know, all of one kind as one batch."""
        asked, self.questions = self.questions, []
        for kind in dict.fromkeys((ask.question, ask.alone) for _, ask in asked):
            askers = [(n, ask) for n, ask in asked if (ask.question, ask.alone) == kind]
            items = [item for _, ask in askers for item in ask.items]
            try:
                if self.error is not None:
                    raise self.error
                answer = self.broker.alone if kind[1] else self.broker.answer
                payloads, failures = answer(kind[0], items)
            except BrittleError as error:
                self._stop(error)
                for number, _ in askers:
                    self.group.send(number, Refused(Interrupted("The run stops.")))
                continue
            start = 0
            for number, ask in askers:
                stop = start + len(ask.items)
                # An exception of a target's own may not be known where the worker runs.
                failed: Failures = {
                    n - start: TargetError(message_of(error))
                    for n, error in failures.items()
                    if start <= n < stop
                }
                self.group.send(number, TargetAnswers(payloads[start:stop], failed, self._left))
                start = stop

    def _check(self, number: int, fingerprint: str | None) -> None:
        """Refuse a worker whose target is another one than the run's."""
        own = self.job.target.fingerprint
        if fingerprint is not None and fingerprint != own:
            self._stop(
                UsageError(
                    f"{self._name(number)} has another target named {self.job.target.name!r}: its "
                    f"fingerprint is {fingerprint}, expected {own}. Give every machine the same "
                    "model and the same versions of packages."
                )
            )

    def _end(self, number: int, error: BrittleError | None) -> None:
        if error is None or self.error is not None:
            return
        if isinstance(error, LimitReached):
            # The others may still finish cases with what they were granted.
            self.error = error
            return
        if number not in self.places:
            context = f"{self._name(number)} could not open the target: {error}"
            error = UsageError(context) if isinstance(error, UsageError) else RunStopped(context)
        self._stop(error)

    def _end_worker(self, number: int, how: str) -> Iterator[FinishedRows]:
        """Take the cases of a dead worker back, and start another in its place."""
        if number not in self.running:
            return  # it had said its last word
        name = self._name(number)
        self.running.discard(number)
        self.idle.pop(number, None)
        self.questions = [(n, ask) for n, ask in self.questions if n != number]
        # It may have computed what it was granted.
        self.broker.totals.sent += self.granted.pop(number, 0)
        fate = "Other workers attack its unfinished cases again."
        if self.asked is not None and self.asked.worker == number:
            self.asked.death = how
            fate = _fate_of_asked(self.asked.question.items)
            self.deaths = 0  # it is known what it died of, and that is asked in smaller parts
        for case in self.dealing.take_back(number):
            reason = f"its worker died again while it alone was attacked ({how})"
            yield [result_of(Outcome(case, "error", reason, 1), self.job)], []
            fate = f"Its case {case.id} counts as an error."
            self.deaths = 0
        if self.error is None:
            self.warn(f"{name} died ({how}). {fate}")
            self._replace(number, name, how)

    def _replace(self, number: int, name: str, how: str) -> None:
        """Start a worker in place of a dead one, unless it is not needed, or too many died."""
        if not self.dealing.unfinished:
            return
        self.deaths += 1
        if self.deaths >= MAX_DEATHS_IN_A_ROW:
            self._stop(
                RunStopped(
                    f"{name} died ({how}), as did {self.deaths} workers in a row without "
                    "finishing a case. If memory is short, use fewer --workers. In your "
                    "own script, put the call under if __name__ == '__main__'."
                )
            )
            return
        self.places.pop(number, None)
        self.group.start(number)
        self.running.add(number)

    def _stop(self, error: BrittleError) -> None:
        """Let all workers stop after their round; the first reason is raised in the end.

        Nobody waits for one that is still opening the target.
        """
        self.error = self.error or error
        self.running &= self.places.keys()
        for number in self.running:
            self.group.send(number, Stop())

    def _name(self, number: int) -> str:
        place = self.places.get(number)
        return f"Worker {number}" + (f" ({place})" if place else "")


def _fate_of_asked(items: Sequence[Any]) -> str:
    """Tell what a worker was asked when it died."""
    if len(items) > 1:
        return f"It was asked about {len(items)} cases. They are asked again in two halves."
    text = f": {str(items[0])[:MAX_SHOWN_CHARACTERS]!r}" if isinstance(items[0], Text) else ""
    return f"It was asked about one case only{text}. This case ends the process."
