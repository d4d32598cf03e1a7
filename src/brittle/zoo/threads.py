"""How many threads torch uses: one owner, and any number of users.

The number is one setting of the whole process. Whoever needs another number says so by a
`ThreadUse`, and closes it in the end. The number of the newest open use holds; after the last one
torch has as many threads as before the first. This file needs torch.
"""

from __future__ import annotations

import threading
import weakref
from itertools import count
from types import TracebackType

import torch


class ThreadUse:
    """Lets torch use this many threads until it is closed, or no longer referred to."""

    def __init__(self, threads: int) -> None:
        self._end = weakref.finalize(self, _OWNER.end, _OWNER.begin(threads))
        self._end.atexit = False

    def close(self) -> None:
        """End this use; a second call does nothing."""
        self._end()

    def __enter__(self) -> ThreadUse:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Owner:
    """The open uses, the oldest first, and torch's number of threads before them."""

    def __init__(self) -> None:
        # Reentrant, for a use may also end when garbage is collected.
        self._lock = threading.RLock()
        self._numbers = count()
        self._uses: dict[int, int] = {}
        self._before = 0

    def begin(self, threads: int) -> int:
        with self._lock:
            if not self._uses:
                self._before = torch.get_num_threads()
            number = next(self._numbers)
            self._uses[number] = threads
            torch.set_num_threads(threads)
            return number

    def end(self, number: int) -> None:
        with self._lock:
            is_newest = number == next(reversed(self._uses))
            del self._uses[number]
            if is_newest or not self._uses:
                newest = next(reversed(self._uses.values()), self._before)
                torch.set_num_threads(newest)


_OWNER = _Owner()
