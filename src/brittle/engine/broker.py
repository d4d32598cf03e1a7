"""The broker: routes questions to whoever answers them, and computes nothing twice.

Items are opaque here. Equal canonical keys are one computation; what is left is sorted by size,
cut into batches, and sent. A failing batch is halved until the failing item is alone. Answers of a
costly desk are journalled before anyone uses them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from brittle.engine.desks import BatchCost, Desk, Failures, compute_batch, compute_by_halves
from brittle.engine.workers import Cache, Pace, Workers
from brittle.errors import Interrupted, RunStopped


class Journal(Protocol):
    """Where answers that cost something are kept before they are used."""

    def find(self, question: str, keys: Sequence[bytes]) -> dict[bytes, Any]: ...

    def keep(self, question: str, answers: Sequence[tuple[bytes, Any]]) -> None: ...


@dataclass
class Totals:
    """What a broker has done so far on counted desks; `sent` are the items really computed."""

    asked: int = 0
    sent: int = 0
    calls: int = 0
    busy: float = 0.0


@dataclass
class Broker:
    """Answer questions about many items at once.

    `watchdog` is the number of seconds after which an in-process call counts as hanging, and
    `most_sent` limits the items computed on query desks (`queries`) over the broker's life.
    """

    desks: Mapping[str, Desk]
    journal: Journal | None = None
    watchdog: float | None = None
    most_sent: int | None = None
    batch: int | None = None
    cache_size: int = 1 << 16
    totals: Totals = field(default_factory=Totals)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._caches = {q: Cache(desk.cache or self.cache_size) for q, desk in self.desks.items()}
        self._paces = {q: Pace(desk.batch or self.batch) for q, desk in self.desks.items()}
        self._workers: dict[str, Workers] = {}

    def answer(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]:
        """Give a payload for every item; None where the desk failed, with the failure."""
        desk, cache = self.desks[question], self._caches[question]
        self.totals.asked += len(items) if desk.counted else 0
        keys, failures = _keys(desk, items)
        known = cache.find(keys)
        missing: dict[Any, Any] = {}
        for key, item in zip(keys, items):
            if key not in known and key is not None:
                missing.setdefault(key, item)
        broken: dict[bytes, Exception] = {}
        if missing:
            fresh, broken = self._fresh(question, missing)
            known.update(fresh)
            cache.keep(fresh)
        if broken:
            failures |= {i: broken[key] for i, key in enumerate(keys) if key in broken}
        return [known.get(key) for key in keys], failures

    def alone(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]:
        """Answer every item by itself, without the cache: the check of a winner."""
        desk = self.desks[question]
        self.totals.asked += len(items) if desk.counted else 0
        keys, failures = _keys(desk, items)
        missing = {key: item for key, item in zip(keys, items) if key is not None}
        fresh, broken = self._fresh(question, missing, alone=True)
        failures |= {i: broken[key] for i, key in enumerate(keys) if key in broken}
        return [fresh.get(key) for key in keys], failures

    def close(self) -> None:
        """Let the worker threads end."""
        for workers in self._workers.values():
            workers.close()

    def _fresh(
        self, question: str, missing: dict[bytes, Any], alone: bool = False
    ) -> tuple[dict[bytes, Any], dict[bytes, Exception]]:
        desk = self.desks[question]
        journal = self.journal if desk.costly else None
        kept_as = f"alone:{question}" if alone else question
        answers = journal.find(kept_as, list(missing)) if journal else {}
        order = [key for key in missing if key not in answers]
        order.sort(key=len if desk.canonical else lambda key: int(missing[key].size))
        batches = self._batches(question, order, 1 if alone else None)
        broken: dict[bytes, Exception] = {}
        for batch, payloads, failures in self._run(question, batches, missing):
            good = [
                (key, p) for n, (key, p) in enumerate(zip(batch, payloads)) if n not in failures
            ]
            if journal:
                journal.keep(kept_as, good)
            answers.update(good)
            broken.update({batch[n]: error for n, error in failures.items()})
        return answers, broken

    def _batches(self, question: str, order: list[bytes], size: int | None) -> list[list[bytes]]:
        if size is None:
            # A round that does not fill all workers is shared out evenly among them.
            share = -(-len(order) // self.desks[question].parallel)
            size = max(1, min(self._paces[question].size, share))
        return [order[start : start + size] for start in range(0, len(order), size)]

    def _run(
        self, question: str, batches: list[list[bytes]], items: dict[bytes, Any]
    ) -> Iterator[tuple[list[bytes], list[Any], Failures]]:
        """Send the batches, as many at a time as the desk allows; yield them as they come back.

        Whatever ends this early (a limit, a stop, a target that is down), batches under way are
        waited for and yielded first: they are paid for.
        """
        desk = self.desks[question]
        if not (desk.counted or desk.watched or desk.costly or desk.parallel > 1):
            for batch in batches:
                yield batch, *self._noted(question, batch, *compute_batch(desk, batch, items))
            return
        if question not in self._workers:
            self._workers[question] = Workers(desk.parallel)
        workers = self._workers[question]
        waiting, flying = list(reversed(batches)), 0
        halt: Exception | None = None
        while flying or (waiting and halt is None):
            while waiting and flying < desk.parallel and halt is None:
                batch, halt = self._allowed(waiting.pop())
                if batch:
                    self.totals.sent += len(batch) if desk.counted else 0
                    workers.send(batch, partial(compute_batch, desk, batch, items))
                    flying += 1
            if flying:
                batch, answered, error = workers.next(self.watchdog if desk.watched else None)
                flying -= 1
                if error is None:
                    yield batch, *self._noted(question, batch, *answered)
                halt = halt or error
        if halt is not None:
            raise halt

    def _allowed(self, batch: list[bytes]) -> tuple[list[bytes], Exception | None]:
        """Cut a batch to what may still be sent, and say why if that is not all of it."""
        if self.stopping.is_set():
            return [], Interrupted("Stopped as asked, after the batch that was under way.")
        if self.most_sent is None or len(batch) <= self.most_sent - self.totals.sent:
            return batch, None
        return batch[: max(0, self.most_sent - self.totals.sent)], RunStopped(
            f"The limit of {self.most_sent} texts sent to the target is reached. The same "
            "command with a higher --max-sent goes on from here."
        )

    def _noted(
        self,
        question: str,
        batch: list[bytes],
        payloads: list[Any],
        failed: Failures,
        work: BatchCost,
    ) -> tuple[list[Any], Failures]:
        if self.desks[question].counted:
            self.totals.sent += work.items - len(batch)  # what halving has sent again
            self.totals.calls += work.calls
            self.totals.busy += work.seconds
        self._paces[question].note(len(batch), sum(map(len, batch)) / max(work.seconds, 1e-9))
        return payloads, failed


def _keys(desk: Desk, items: Sequence[Any]) -> tuple[list[Any], Failures]:
    if desk.canonical is None:
        return [item.key for item in items], {}
    try:
        return list(desk.canonical(items)), {}
    except Exception:
        return compute_by_halves(desk.canonical, items)
