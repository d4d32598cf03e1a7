"""Servers that never come to an end, and small answers that become large ones."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from brittle.errors import TargetDown, TargetError
from brittle.targets.answer_parsers import BlackBoxClassifier
from brittle.targets.http import transport
from brittle.targets.http.endpoint import Endpoint
from brittle.targets.http.transport import BadContent, TooLong, of_endpoint, read_content
from brittle.text import Text

pytest.importorskip("httpx")

TIMEOUT_SECONDS = 1.0
SERVER_SECONDS = 120.0  # how long a server would go on; far longer than any exchange may take
ITEM = Text.of("a good film")
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED_GZIP = OK + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"


def drip_headers() -> Iterator[bytes]:
    yield OK
    while True:
        time.sleep(0.2)
        yield b"X-A: b\r\n"


def interim_responses() -> Iterator[bytes]:
    while True:
        time.sleep(0.01)
        yield b"HTTP/1.1 103 Early Hints\r\n\r\n"


def packed_nothing() -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31)
    yield CHUNKED_GZIP
    while True:
        time.sleep(0.05)
        part = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
        yield b"%x\r\n%s\r\n" % (len(part), part)


def drip_body() -> Iterator[bytes]:
    yield OK + b"Content-Length: 100000\r\n\r\n"
    while True:
        time.sleep(0.2)
        yield b" "


def answered(content: bytes, encoding: str) -> Iterator[bytes]:
    head = f"Content-Encoding: {encoding}\r\nContent-Length: {len(content)}\r\n\r\n"
    yield OK + head.encode() + content


@pytest.fixture
def serve() -> Iterator[Callable[..., BlackBoxClassifier]]:
    """Serve what a generator yields, to every connection; return the target of that server."""
    sockets: list[socket.socket] = []
    targets: list[BlackBoxClassifier] = []
    ending = threading.Event()

    def talk(connection: socket.socket, parts: Callable[[], Iterator[bytes]]) -> None:
        start = time.monotonic()
        with connection:
            try:
                connection.recv(1 << 16)
                for part in parts():
                    connection.sendall(part)
                    if ending.is_set() or time.monotonic() - start > SERVER_SECONDS:
                        return
            except OSError:
                return  # the client has given up

    def accept(listener: socket.socket, parts: Callable[[], Iterator[bytes]]) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(connection, parts), daemon=True).start()

    def start(parts: Callable[[], Iterator[bytes]]) -> BlackBoxClassifier:
        listener = socket.create_server(("127.0.0.1", 0))
        sockets.append(listener)
        threading.Thread(target=accept, args=(listener, parts), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        about: dict[str, Any] = {"labels": ("neg", "pos"), "retries": 0}
        endpoint = Endpoint(url, {"text": "{text}"}, timeout=TIMEOUT_SECONDS, **about)
        targets.append(of_endpoint(endpoint))
        return targets[-1]

    yield start
    ending.set()
    for target in targets:
        target.close()
    for listener in sockets:
        listener.close()


@pytest.mark.slow
@pytest.mark.parametrize("parts", [drip_headers, interim_responses, packed_nothing, drip_body])
def test_the_timeout_is_for_the_whole_exchange(serve: Any, parts: Any) -> None:
    target = serve(parts)
    start = time.monotonic()
    with pytest.raises(TargetDown, match="no answer within 1 s"):
        target.scores([ITEM])
    assert time.monotonic() - start < SERVER_SECONDS / 2


def test_a_packed_answer_is_unpacked(serve: Any) -> None:
    target = serve(lambda: answered(gzip.compress(b"[0.25, 0.75]"), "gzip"))
    assert target.scores([ITEM]).tolist() == [[0.25, 0.75]]


def test_an_answer_that_unpacks_to_too_much_is_refused(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = gzip.compress(b" " * 200_000 + b"[0.25, 0.75]")
    monkeypatch.setattr(transport, "MAX_ANSWER_BYTES", 100_000)
    with pytest.raises(TargetError, match="more than 100,000 bytes"):
        serve(lambda: answered(bomb, "gzip")).scores([ITEM])


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"no gzip", "gzip", "damaged"),
        (gzip.compress(b"[0.25, 0.75]", mtime=0)[:-6], "gzip", "ends too early"),
        (b"[0.25, 0.75]", "br", "compressed with 'br'"),
    ],
)
def test_an_answer_that_cannot_be_unpacked_is_named(
    serve: Any, content: bytes, encoding: str, message: str
) -> None:
    with pytest.raises(TargetDown, match=message):
        serve(lambda: answered(content, encoding)).scores([ITEM])


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_chunks_of_any_size_give_the_content(size: int) -> None:
    plain = json.dumps(list(range(30_000))).encode()
    for content, encoding in ((plain, ""), (gzip.compress(plain), " GZIP ")):
        chunks = [content[i : i + size] for i in range(0, len(content), size)]
        assert read_content(chunks, encoding, len(plain)) == plain
        with pytest.raises(TooLong):
            read_content(chunks, encoding, len(plain) - 1)
    assert read_content([], "gzip", 10) == b""
    with pytest.raises(BadContent):
        read_content([b"x"], "gzip", 10)


def test_little_is_unpacked_of_what_is_far_too_long() -> None:
    """Of a gigabyte, no more is unpacked than the limit and one part."""
    packer, unpacked = zlib.compressobj(9, wbits=31), 0
    chunk = packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_SYNC_FLUSH)

    def chunks() -> Iterator[bytes]:
        nonlocal unpacked
        yield chunk
        unpacked += 1
        for _ in range(60):
            unpacked += 1
            yield packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_SYNC_FLUSH)

    with pytest.raises(TooLong):
        read_content(chunks(), "gzip", 1 << 20)
    assert unpacked == 0
