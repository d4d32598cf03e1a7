"""How batches are run: threads that may hang, a pace that is found, a cache that forgets."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from brittle.errors import TargetDown

T = TypeVar("T")


class Workers:
    """A few daemon threads: one that hangs cannot keep the program from ending."""

    def __init__(self, count: int) -> None:
        self._todo: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._count = count
        for _ in range(count):
            threading.Thread(target=self._work, daemon=True, name="brittle-target").start()

    def send(self, tag: Any, job: Callable[[], Any]) -> None:
        self._todo.put((tag, job))

    def next(self, timeout: float | None) -> tuple[Any, Any, Exception | None]:
        """Give the tag, the value and the error of the job that ends next."""
        try:
            tag, value, error = self._done.get(timeout=timeout)
        except queue.Empty:
            raise TargetDown(
                f"The target has not answered within {timeout:g} seconds and seems to hang. "
                "Nothing finished is lost: the same command resumes; --watchdog sets the limit."
            ) from None
        if error is not None and not isinstance(error, Exception):
            raise error
        return tag, value, error

    def close(self) -> None:
        for _ in range(self._count):
            self._todo.put(None)

    def _work(self) -> None:
        while (task := self._todo.get()) is not None:
            tag, job = task
            try:
                self._done.put((tag, job(), None))
            except SystemExit as error:
                told = f"The target tried to end the whole program: SystemExit({error.code!r})."
                self._done.put((tag, None, TargetDown(told)))
            except BaseException as error:
                self._done.put((tag, None, error))


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """Give what a call gives, or give up on it when it hangs."""
    workers = Workers(1)
    workers.send(None, call)
    workers.close()
    _, value, error = workers.next(seconds)
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return]


class Pace:
    """Find a good batch size: double it while the work done per second still grows."""

    MOST = 1024

    def __init__(self, fixed: int | None) -> None:
        self.size = fixed or 64
        self._settled = fixed is not None
        self._rates: list[float] = []
        self._last = 0.0

    def note(self, rows: int, rate: float) -> None:
        if self._settled or rows < self.size:
            return
        self._rates.append(rate)
        if len(self._rates) < 2:
            return
        best, self._rates = max(self._rates), []
        if best < self._last * 1.05:
            self.size //= 2
            self._settled = True
        else:
            self._last = best
            self.size *= 2
            self._settled = self.size > self.MOST // 2


class Cache:
    """Two generations of answers: when the young one is full it becomes the old one.

    `size` is a number of answers with short keys; long keys count by the kilobyte.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.filled = 0
        self.young: dict[bytes, Any] = {}
        self.old: dict[bytes, Any] = {}

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        young, old = self.young, self.old
        known = {key: young[key] for key in keys if key in young}
        if old:
            aged = {key: old[key] for key in keys if key in old and key not in known}
            if aged:
                self.keep(aged)
                known.update(aged)
        return known

    def keep(self, answers: Mapping[bytes, Any]) -> None:
        weight = len(answers) + sum(map(len, answers)) // 1024
        if self.filled + weight > self.size and self.young:
            self.young, self.old, self.filled = {}, self.young, 0
        self.young.update(answers)
        self.filled += weight
