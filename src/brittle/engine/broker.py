"""The broker: routes questions to the desks that answer them, and computes nothing twice.

Items are opaque here. Items with equal canonical keys are one computation. What neither the cache
nor the journal knows is sorted by size, cut into batches and sent to the workers. A failing batch
is halved until the failing item is alone. Answers of a costly desk are journalled before they are
used.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from brittle.asks import ANSWER
from brittle.engine.asking import Journal, Totals
from brittle.engine.desks import (
    BatchCost,
    BatchSize,
    Cache,
    Desk,
    Digest,
    Failures,
    cache_keys,
    compute_batch,
    cut_batches,
    full_keys,
    repeated_keys,
)
from brittle.engine.workers import JobThreads
from brittle.errors import Interrupted, LimitReached

KEYS_AT_ONCE = 256  # that are looked up in the journal
BYTES_PER_WORD = 4  # in a key of token ids


@dataclass
class Broker:
    """Answers questions about many items at once.

    `watchdog` is the number of seconds after which an in-process call counts as hanging.
    `most_sent` limits the items computed on counted desks over the broker's life, and `most_tokens`
    the tokens: nothing is sent after so many are used. `caches` are the answers kept in memory, by
    question; those handed in outlive the broker.
    """

    desks: Mapping[str, Desk]
    journal: Journal | None = None
    watchdog: float | None = None
    most_sent: int | None = None
    most_tokens: int | None = None
    batch: int | None = None
    cache_size: int = 1 << 16
    caches: dict[str, Cache] = field(default_factory=dict)
    totals: Totals = field(default_factory=Totals)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        for q, desk in self.desks.items():
            size = self.cache_size if desk.cache is None else desk.cache
            self.caches.setdefault(q, Cache(size))
        # A desk's own size is the most that it takes well; the user can ask for less.
        sizes = {q: [n for n in (desk.batch, self.batch) if n] for q, desk in self.desks.items()}
        self._sizes = {q: BatchSize(min(own, default=None)) for q, own in sizes.items()}
        self._workers: dict[str, JobThreads] = {}

    @property
    def left(self) -> int | None:
        """Return how many items may still be computed on counted desks; None is no limit."""
        return None if self.most_sent is None else max(0, self.most_sent - self.totals.sent)

    def grant(self, count: int) -> int:
        """Return how many of so many items may be computed; a worker's broker asks its driver."""
        return count if self.left is None else min(count, self.left)

    def answer(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]:
        """Return a payload for every item; None where the desk failed, with the failure."""
        desk, cache = self.desks[question], self.caches[question]
        self.totals.asked += len(items) if desk.counted else 0
        keys, failures = cache_keys(desk, items)
        payloads = cache.find(keys)
        missing: dict[Any, Any] = {}
        for key, item in zip(keys, items):
            if key not in payloads and key is not None:
                missing.setdefault(key, item)
        failed: dict[bytes, Exception] = {}
        if missing:
            fresh, failed = self._compute(question, missing)
            payloads.update(fresh)
            cache.keep(fresh)
            if desk.gives_answers:
                self.caches[ANSWER].keep({key: p.scores for key, p in fresh.items()})
        if failed:
            failures |= {i: failed[key] for i, key in enumerate(keys) if key in failed}
        return [payloads.get(key) for key in keys], failures

    def alone(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]:
        """Answer every item by itself, without the cache: the check of a winner."""
        desk = self.desks[question]
        self.totals.asked += len(items) if desk.counted else 0
        keys, failures = cache_keys(desk, items)
        missing = {key: item for key, item in zip(keys, items) if key is not None}
        fresh, failed = self._compute(question, missing, alone=True)
        failures |= {i: failed[key] for i, key in enumerate(keys) if key in failed}
        return [fresh.get(key) for key in keys], failures

    def close(self) -> None:
        """Let the worker threads end."""
        for workers in self._workers.values():
            workers.close()

    def _compute(
        self, question: str, missing: dict[bytes, Any], alone: bool = False
    ) -> tuple[dict[bytes, Any], dict[bytes, Exception]]:
        """Compute what is missing, as often as the desk asks for; return payloads and failures."""
        desk = self.desks[question]
        if desk.repeats == 1 or desk.join is None:
            return self._compute_once(question, missing, alone)
        by_key = repeated_keys(desk, missing)
        each = {part: missing[key] for key, parts in by_key.items() for part in parts}
        fresh, failed = self._compute_once(question, each, alone)
        failures = {
            key: next(failed[part] for part in parts if part in failed)
            for key, parts in by_key.items()
            if any(part in failed for part in parts)
        }
        answered = {key: parts for key, parts in by_key.items() if key not in failures}
        return {k: desk.join([fresh[part] for part in p]) for k, p in answered.items()}, failures

    def _compute_once(
        self, question: str, missing: dict[bytes, Any], alone: bool = False
    ) -> tuple[dict[bytes, Any], dict[bytes, Exception]]:
        """Compute what the journal does not know; return payloads and failures by key."""
        desk = self.desks[question]
        journal = self.journal if desk.costly else None
        entry = f"alone:{question}" if alone else question
        payloads = _journalled(journal, entry, desk, missing) if journal else {}
        keys = [key for key in missing if key not in payloads]
        own_sizes = _bytes(keys, missing) if desk.canonical else [missing[k].size for k in keys]
        sizes = dict(zip(keys, own_sizes))
        keys.sort(key=sizes.__getitem__)
        most = 1 if alone else self._sizes[question].size
        batches = cut_batches(keys, [sizes[key] for key in keys], most, desk.parallel)
        failed: dict[bytes, Exception] = {}
        for batch, answers, failures, tokens in self._run(question, batches, missing):
            good = [(k, p) for n, (k, p) in enumerate(zip(batch, answers)) if n not in failures]
            if journal:
                own = full_keys(desk, [key for key, _ in good], missing)
                rows = [(key, payload) for key, (_, payload) in zip(own, good)]
                journal.keep(entry, rows, tokens)
            payloads.update(good)
            failed.update({batch[n]: error for n, error in failures.items()})
        return payloads, failed

    def _run(
        self, question: str, batches: list[list[bytes]], items: dict[bytes, Any]
    ) -> Iterator[tuple[list[bytes], list[Any], Failures, tuple[int, int]]]:
        """Send the batches, as many at a time as the desk allows; yield them as they come back.

        Each comes with its answers, its failures, and the tokens read and written.

        If this ends early (a limit, a stop, a target that is down), batches under way are waited
        for and yielded first: they are paid for.
        """
        desk = self.desks[question]
        if not (desk.counted or desk.watched or desk.costly or desk.parallel > 1):
            for batch in batches:
                computed = compute_batch(desk, batch, items)
                yield batch, *self._noted(question, batch, items, *computed)
            return
        if question not in self._workers:
            self._workers[question] = JobThreads(desk.parallel)
        workers = self._workers[question]
        waiting, under_way = list(reversed(batches)), 0
        halt: Exception | None = None
        while under_way or (waiting and halt is None):
            while waiting and under_way < desk.parallel and halt is None:
                batch, halt = self._allowed(waiting.pop())
                if batch:
                    self.totals.sent += len(batch) if desk.counted else 0
                    workers.send(batch, partial(compute_batch, desk, batch, items))
                    under_way += 1
            if under_way:
                batch, answer, error = workers.next(self.watchdog if desk.watched else None)
                under_way -= 1
                if error is None:
                    yield batch, *self._noted(question, batch, items, *answer)
                halt = halt or error
        if halt is not None:
            raise halt

    def _allowed(self, batch: list[bytes]) -> tuple[list[bytes], Exception | None]:
        """Cut a batch to what may still be sent; if that is not all of it, return the reason."""
        if self.stopping.is_set():
            return [], Interrupted("Stopped on request after the current batch.")
        if self.most_tokens is not None and self.totals.tokens >= self.most_tokens:
            return [], LimitReached(
                f"The limit of {self.most_tokens} tokens is reached. The same command with a "
                "higher --max-tokens continues from here.",
                "--max-tokens",
            )
        granted = self.grant(len(batch))
        if granted >= len(batch):
            return batch, None
        return batch[:granted], LimitReached(
            f"The limit of {self.most_sent} items sent to the target is reached. The same "
            "command with a higher --max-sent continues from here."
        )

    def _noted(
        self,
        question: str,
        batch: list[bytes],
        items: Mapping[bytes, Any],
        payloads: list[Any],
        failed: Failures,
        c: BatchCost,
    ) -> tuple[list[Any], Failures, tuple[int, int]]:
        if self.desks[question].counted:
            self.totals.sent += c.items - len(batch)  # what halving has sent again
            self.totals.calls += c.calls
            self.totals.busy += c.seconds
            self.totals.tokens_read += c.tokens_read
            self.totals.tokens_written += c.tokens_written
        rate = sum(_bytes(batch, items)) / max(c.seconds, 1e-9)
        self._sizes[question].note(len(batch), rate)
        return payloads, failed, (c.tokens_read, c.tokens_written)


def _journalled(
    journal: Journal, entry: str, desk: Desk, missing: Mapping[bytes, Any]
) -> dict[bytes, Any]:
    """Find answers in the journal, a part of the keys at a time: those of long items are long."""
    payloads: dict[bytes, Any] = {}
    keys = iter(missing)
    while part := list(islice(keys, KEYS_AT_ONCE)):
        by_own_key = dict(zip(full_keys(desk, part, missing), part))
        known = journal.find(entry, list(by_own_key))
        payloads.update((by_own_key[own], payload) for own, payload in known.items())
    return payloads


def _bytes(keys: Sequence[bytes], items: Mapping[bytes, Any]) -> Iterable[int]:
    """Return how many bytes the own keys of items have; of long items, about how many."""
    if Digest not in set(map(type, keys)):
        return map(len, keys)
    return [BYTES_PER_WORD * items[k].size if isinstance(k, Digest) else len(k) for k in keys]
