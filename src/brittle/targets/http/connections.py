"""Connections to an endpoint: deadlines that hold, and a pool that keeps them.

One deadline for a whole exchange: every read and write gets what is left of its time.

The timeouts of httpx are for every single read. A server that sends a byte now and then, one
interim response after another, or compressed nothing would never exceed them.

TLS inside of TLS, as through an https proxy, needs many reads for one of its own: for a handshake,
or for a record. So it is done here, on top of a stream that keeps the deadline.

This file needs httpx, which brings httpcore. The connections to an endpoint: an httpx client whose
pools, of httpcore, keep one deadline.

httpx builds its pools itself and takes no network backend. So they are built here, with the same
settings: directly, and by the proxies of the environment. This file needs httpx.
"""

from __future__ import annotations

import importlib
import ipaddress
import os
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar
from urllib.request import getproxies

import httpcore
import httpx

from brittle.errors import MissingPackage, UsageError
from brittle.redaction import PROXY_VARIABLES
from brittle.targets.http.endpoint import Endpoint
from brittle.targets.http.transport import ACCEPTED

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


KEEP_ALIVE_SECONDS = 5.0
CORE_ERRORS = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)


def connect(endpoint: Endpoint, url: str, deadline: Deadline) -> httpx.Client:
    """Build the client of an endpoint; `url` is its address with its secrets."""
    # Certificates take time to load, and plain http, which is never redirected, needs none.
    context = httpx.create_ssl_context(verify=not url.startswith("http://"))
    headers = httpx.Headers({"Accept-Encoding": ACCEPTED})
    headers.update(endpoint.sent_headers())

    def pool(proxy: str | None = None) -> _Pool:
        return _Pool(proxy, context, endpoint.concurrency, DeadlineBackend(deadline))

    with _explained_proxies():
        return httpx.Client(
            headers=headers,
            timeout=endpoint.timeout,
            transport=pool(),
            mounts={
                pattern: None if proxy is None else pool(proxy)
                for pattern, proxy in _environment_proxies().items()
            },
        )


class _Pool(httpx.BaseTransport):
    """A pool of httpcore as a transport of httpx, by a proxy if one is named."""

    def __init__(
        self,
        address: str | None,
        context: ssl.SSLContext,
        connections: int,
        backend: httpcore.NetworkBackend,
    ) -> None:
        settings: dict[str, Any] = {
            "ssl_context": context,
            "max_connections": connections,
            "keepalive_expiry": KEEP_ALIVE_SECONDS,
            "network_backend": backend,
        }
        self._pool: httpcore.ConnectionPool
        if address is None:
            self._pool = httpcore.ConnectionPool(**settings)
            return
        proxy = httpx.Proxy(address)
        settings |= {"proxy_url": _core_url(proxy.url), "proxy_auth": proxy.raw_auth}
        if proxy.url.scheme in ("socks5", "socks5h"):
            importlib.import_module("socksio")  # httpcore would ask for it at the first request
            self._pool = httpcore.SOCKSProxy(**settings)
        else:
            self._pool = httpcore.HTTPProxy(**settings)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with _as_httpx_errors():
            response = self._pool.handle_request(
                httpcore.Request(
                    method=request.method,
                    url=_core_url(request.url),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    """The content of a reply, chunk by chunk."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx_errors():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


def _core_url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )


@contextmanager
def _as_httpx_errors() -> Iterator[None]:
    """Raise errors of httpcore as those of httpx, which have the same names."""
    try:
        yield
    except CORE_ERRORS as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error


def _environment_proxies() -> dict[str, str | None]:
    """Return the proxies of the environment by the addresses they are for; None: without one.

    The patterns of addresses are those of httpx, and so is what NO_PROXY means: `example.com` is
    for its subdomains too.
    """
    known = getproxies()
    proxies: dict[str, str | None] = {
        f"{scheme}://": known[scheme] if "://" in known[scheme] else f"http://{known[scheme]}"
        for scheme in ("http", "https", "all")
        if known.get(scheme)
    }
    without = [host.strip() for host in known.get("no", "").split(",")]
    if "*" in without:
        return {}
    return proxies | {_pattern_of(host): None for host in without if host}


def _pattern_of(host: str) -> str:
    """Return the pattern of a host that NO_PROXY lists."""
    if "://" in host:
        return host
    if host.lower() == "localhost":
        return f"all://{host}"
    try:
        version = ipaddress.ip_address(host.split("/")[0]).version
    except ValueError:
        return f"all://*{host}"
    return f"all://{host}" if version == 4 else f"all://[{host}]"


@contextmanager
def _explained_proxies() -> Iterator[None]:
    """Explain why a client cannot be made: the environment names a proxy that it cannot use."""
    try:
        yield
    except ImportError as error:
        names = proxy_variables("socks")
        raise MissingPackage(
            f"{' and '.join(names) or 'The system'} names a SOCKS proxy. This needs the "
            "package 'socksio', which is not installed. Install it with: pip install "
            "socksio. If the endpoint needs no proxy, unset the variable for this "
            "command."
        ) from error
    except (ValueError, httpx.InvalidURL) as error:
        excepted = [name for name in ("NO_PROXY", "no_proxy") if os.environ.get(name)]
        names = [*proxy_variables(), *excepted]
        if not names:
            raise
        raise UsageError(
            f"A proxy of the environment ({', '.join(names)}) cannot be used: {error}. "
            "Expected http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, "
            "optionally with a percent-encoded USER:PASSWORD@ before the host. NO_PROXY "
            "lists host names only."
        ) from None  # the error may quote a part of the password


def proxy_variables(start: str = "") -> list[str]:
    """Return the variables of the environment that name a proxy whose address begins so."""
    addresses = {name: os.environ.get(name, "").lower() for name in PROXY_VARIABLES}
    return [name for name, address in addresses.items() if address and address.startswith(start)]
