"""Threads that compute batches, none of which can decide for the program; and garbage collection.

Threads that compute batches; a target that hangs or exits cannot decide for the program. Garbage
collection during a run: what was made before it is not searched.
"""

from __future__ import annotations

import gc
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from brittle.errors import TargetDown

T = TypeVar("T")


class JobThreads:
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
                f"The target has not answered within {timeout:g} seconds and seems to "
                "hang. No finished case is lost: the same command resumes the run. "
                "--watchdog sets the limit."
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
                self._done.put((tag, None, exit_refused(error)))
            except BaseException as error:
                self._done.put((tag, None, error))


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """Return the value of a call; a call that hangs raises TargetDown."""
    workers = JobThreads(1)
    workers.send(None, call)
    workers.close()
    _, value, error = workers.next(seconds)
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return]


class ProcessExit(SystemExit):
    """Code of the user's called os._exit, which ends a process without a word."""


def exit_refused(error: SystemExit) -> TargetDown:
    """Build the error for code of the user's that tried to end the program."""
    call, hint = f"SystemExit({error.code!r})", ""
    if isinstance(error, ProcessExit):
        call = f"os._exit({error.code!r})"
        hint = " With `brittle attack --workers 2` only the cases fail that cause it."
    return TargetDown(f"The target tried to end the whole program: {call}.{hint}")


class _Exits:
    """How often exits are refused at this moment, and the function that ends a process."""

    count = 0
    lock = threading.Lock()
    real = staticmethod(os._exit)


@contextmanager
def exits_refused() -> Iterator[None]:
    """Have os._exit raise, as sys.exit does, while code of the user's may run in this process.

    Else the program would end with the exit code that this code chose, as if all were done. Forked
    children end as they like. What native code does is out of reach.
    """
    process = os.getpid()

    def refuse(status: int) -> NoReturn:
        if os.getpid() != process:
            _Exits.real(status)
        raise ProcessExit(status)

    _add_refusal(1, refuse)
    try:
        yield
    finally:
        _add_refusal(-1, _Exits.real)


def _add_refusal(number: int, function: Callable[[int], NoReturn]) -> None:
    """Count who refuses exits; the first and the last replace the function of the system."""
    with _Exits.lock:
        _Exits.count += number
        if _Exits.count == max(number, 0):
            for name in ("os", "posix", "nt"):
                if name in sys.modules:
                    sys.modules[name]._exit = function  # type: ignore[attr-defined]


# From Python 3.12 on, the collector itself freezes immortal objects, such as the builtin types. A
# host that freezes its own freezes at least the 4,000 objects of a bare interpreter.
MAX_IMMORTAL_OBJECTS = 2000


@contextmanager
def former_objects_frozen() -> Iterator[None]:
    """Keep objects made before a `with` block (a model, word tables) from being searched in it.

    To search them again and again would take much of the engine's time. `gc.unfreeze` thaws all
    objects, whoever froze them: if the host has frozen its own, none are frozen here, so that none
    are thawed afterwards.
    """
    if gc.get_freeze_count() > MAX_IMMORTAL_OBJECTS:
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
