"""One deadline for a whole exchange: every read and write gets what is left of its time.

The timeouts of httpx are for every single read. A server that sends a byte now and then, one
interim response after another, or compressed nothing would never exceed them.

TLS inside of TLS, as through an https proxy, needs many reads for one of its own: for a handshake,
or for a record. So it is done here, on top of a stream that keeps the deadline.

This file needs httpx, which brings httpcore.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import httpcore

T = TypeVar("T")

RECORD_BYTES = 1 << 14  # the longest record of TLS
WRITE_BYTES = 1 << 14  # of one write: a server that reads slowly takes the time of several


class Deadline(threading.local):
    """When the exchange of this thread must be over; None between exchanges."""

    end: float | None = None

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
            raise httpcore.ReadTimeout("the whole exchange took too long")
        return left if timeout is None else min(timeout, left)


class DeadlineBackend(httpcore.SyncBackend):
    """The network backend of httpcore, with streams that keep the deadline."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *rest: Any, **options: Any
    ) -> _Stream:
        timeout = self._deadline.limit(timeout)
        stream = super().connect_tcp(host, port, timeout, *rest, **options)
        return _Stream(stream, self._deadline)


class _Stream(httpcore.NetworkStream):
    """A connection of httpcore that keeps the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.limit(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), WRITE_BYTES):
            part = buffer[start : start + WRITE_BYTES]
            self._stream.write(part, self._deadline.limit(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Stream | _TlsStream:
        if self.get_extra_info("ssl_object") is not None:
            return _TlsStream(self, ssl_context, server_hostname, timeout)
        timeout = self._deadline.limit(timeout)
        return _Stream(
            self._stream.start_tls(ssl_context, server_hostname, timeout), self._deadline
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _TlsStream(httpcore.NetworkStream):
    """TLS on top of a stream, such as one of TLS to a proxy; every read of that is limited."""

    def __init__(
        self,
        stream: _Stream | _TlsStream,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None,
        timeout: float | None,
    ) -> None:
        self._stream = stream
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl = ssl_context.wrap_bio(
            self._incoming, self._outgoing, server_hostname=server_hostname
        )
        with _translated(httpcore.ConnectError):
            self._perform(self._ssl.do_handshake, timeout)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _translated(httpcore.ReadError):
            try:
                return self._perform(lambda: self._ssl.read(max_bytes), timeout)
            except ssl.SSLEOFError:
                return b""  # the other side has ended without a word, as in TLS on a socket

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with _translated(httpcore.WriteError):
            while buffer:
                sent = self._perform(partial(self._ssl.write, buffer[:WRITE_BYTES]), timeout)
                buffer = buffer[sent:]

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _TlsStream:
        return _TlsStream(self, ssl_context, server_hostname, timeout)

    def get_extra_info(self, info: str) -> Any:
        return self._ssl if info == "ssl_object" else self._stream.get_extra_info(info)

    def _perform(self, step: Callable[[], T], timeout: float | None) -> T:
        """Repeat a step of TLS until it has read and written all that it needs."""
        while True:
            try:
                value = step()
            except ssl.SSLWantReadError:
                self._flush(timeout)
                content = self._stream.read(RECORD_BYTES, timeout)
                if content:
                    self._incoming.write(content)
                else:
                    self._incoming.write_eof()
            else:
                self._flush(timeout)
                return value

    def _flush(self, timeout: float | None) -> None:
        if self._outgoing.pending:
            self._stream.write(self._outgoing.read(), timeout)


@contextmanager
def _translated(error_type: type[Exception]) -> Iterator[None]:
    """Raise errors of TLS as those of httpcore."""
    try:
        yield
    except ssl.SSLError as error:
        raise error_type(str(error)) from error
