"""One deadline for a whole exchange: every read and write gets what is left of its time.

The timeouts of httpx are for every single read. A server that sends a byte now and then, one
interim response after another, or compressed nothing would never exceed them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WRITE_BYTES = 1 << 14  # of one write: a server that reads slowly takes the time of several


class Deadline(threading.local):
    """When the exchange of this thread must be over; None between exchanges."""

    end: float | None = None

    def __init__(self, timeout_error: type[Exception]) -> None:
        self.timeout_error = timeout_error

    @contextmanager
    def after(self, seconds: float) -> Iterator[None]:
        self.end = time.monotonic() + seconds
        try:
            yield
        finally:
            self.end = None

    def limit(self, timeout: float | None) -> float | None:
        """Return the shorter of a timeout and the time that is left."""
        if self.end is None:
            return timeout
        left = self.end - time.monotonic()
        if left <= 0:
            raise self.timeout_error("the whole exchange took too long")
        return left if timeout is None else min(timeout, left)


def with_deadline(client: Any, timeout_error: type[Exception]) -> Deadline:
    """Have all connections of an httpx client keep a deadline, those through a proxy too."""
    deadline = Deadline(timeout_error)
    for transport in (client._transport, *client._mounts.values()):
        if transport is not None:
            pool = transport._pool
            pool._network_backend = _Network(pool._network_backend, deadline)
    return deadline


class _Network:
    """A network backend of httpcore whose streams keep the deadline."""

    def __init__(self, backend: Any, deadline: Deadline) -> None:
        self._backend, self._deadline = backend, deadline

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *rest: Any, **options: Any
    ) -> _Stream:
        timeout = self._deadline.limit(timeout)
        stream = self._backend.connect_tcp(host, port, timeout, *rest, **options)
        return _Stream(stream, self._deadline)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, *rest: Any, **options: Any
    ) -> _Stream:
        timeout = self._deadline.limit(timeout)
        stream = self._backend.connect_unix_socket(path, timeout, *rest, **options)
        return _Stream(stream, self._deadline)

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Stream:
    """A connection of httpcore that keeps the deadline."""

    def __init__(self, stream: Any, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> Any:
        return self._stream.read(max_bytes, self._deadline.limit(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), WRITE_BYTES):
            part = buffer[start : start + WRITE_BYTES]
            self._stream.write(part, self._deadline.limit(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Stream:
        timeout = self._deadline.limit(timeout)
        return _Stream(
            self._stream.start_tls(ssl_context, server_hostname, timeout), self._deadline
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
