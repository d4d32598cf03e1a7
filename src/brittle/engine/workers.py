"""Threads that compute batches; one that hangs cannot keep the program from ending."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from brittle.errors import TargetDown

T = TypeVar("T")


class Workers:
    """A few daemon threads that run jobs."""

    def __init__(self, count: int) -> None:
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._count = count
        for _ in range(count):
            threading.Thread(target=self._work, daemon=True, name="brittle-target").start()

    def send(self, tag: Any, job: Callable[[], Any]) -> None:
        self._jobs.put((tag, job))

    def next(self, timeout: float | None) -> tuple[Any, Any, Exception | None]:
        """Wait for the job that ends next; return its tag, its value and its error."""
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
            self._jobs.put(None)

    def _work(self) -> None:
        while (entry := self._jobs.get()) is not None:
            tag, job = entry
            try:
                self._done.put((tag, job(), None))
            except SystemExit as error:
                message = f"The target tried to end the whole program: SystemExit({error.code!r})."
                self._done.put((tag, None, TargetDown(message)))
            except BaseException as error:
                self._done.put((tag, None, error))


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """Return the value of a call; a call that hangs raises TargetDown."""
    workers = Workers(1)
    workers.send(None, call)
    workers.close()
    _, value, error = workers.next(seconds)
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return]
