"""Lying endpoints: a server on loopback that answers each address in another wrong way."""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count as numbers
from pathlib import Path

from hostile.part import Part, timed, verdict
from hostile.workspace import write_workspace

SECONDS, MAX_MEMORY_KB = 90.0, 800_000
FINE = b"[0.2, 0.8]"
Lie = Callable[[socket.socket], None]


def _reply(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    named = {"Content-Length": str(len(body)), "Connection": "close"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def _says(body: bytes, status: str = "200 OK", **headers: str) -> Lie:
    return lambda connection: connection.sendall(_reply(body, status, **headers))


def _sends(raw: bytes) -> Lie:
    return lambda connection: connection.sendall(raw)


def _drips(start: bytes, drop: bytes, pause: float = 0.05) -> Lie:
    """Send a start, and then a little again and again, for as long as it is read."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(start)
        for _ in range(int(SECONDS / pause) if pause else 10**9):
            connection.sendall(drop)
            time.sleep(pause)

    return drip


def _varies() -> Lie:
    number = numbers()

    def answer(connection: socket.socket) -> None:
        score = (next(number) * 0.37) % 1
        connection.sendall(_reply(json.dumps([score, 1 - score]).encode()))

    return answer


def _resets(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


HEAD = b"HTTP/1.1 200 OK\r\n"
LIES: Mapping[str, Lie] = {
    "no JSON": _says(b"all is well"),
    "nothing": _says(b""),
    "null": _says(b"null"),
    "one score": _says(b"[0.5]"),
    "three scores": _says(b"[0.2, 0.3, 0.5]"),
    "nested deeply": _says(b"[" * 200_000),
    "NaN": _says(b"[NaN, 0.5]"),
    "infinity": _says(b"[Infinity, 0.5]"),
    "negative": _says(b"[-0.5, 1.5]"),
    "a sum of two": _says(b"[1.0, 1.0]"),
    "texts as scores": _says(b'["0.2", "much"]'),
    "a key twice": _says(b'{"negative": 0.1, "negative": 0.9}'),
    "other labels": _says(b'{"cat": 0.1, "dog": 0.9}'),
    "booleans": _says(b"[true, false]"),
    "huge numbers": _says(b"[1e400, 1" + b"0" * 400 + b"]"),
    "too many digits": _says(b"[1" + b"0" * 6000 + b", 0]"),
    "UTF-16": _says("[0.2, 0.8]".encode("utf-16")),
    "not UTF-8": _says(b'{"label": "\xff\xfe"}'),
    "half a surrogate pair": _says(b'{"label": "\\ud800", "score": 1}'),
    "escape sequences": _says(b'{"label": "\\u001b[2J\\u001b]0;x\\u0007", "score": 1}'),
    "a page": _says(b"<html><script>alert(1)</script></html>", Content_Type="text/html"),
    "no gzip": _says(FINE, Content_Encoding="gzip"),
    "cut gzip": _says(gzip.compress(FINE * 99)[:-20], Content_Encoding="gzip"),
    "a gzip bomb": _says(gzip.compress(b" " * 200_000_000), Content_Encoding="gzip"),
    "no deflate": _says(b"\x00\x01garbage", Content_Encoding="deflate"),
    "an unknown encoding": _says(FINE, Content_Encoding="rot13"),
    "less than its length": _sends(HEAD + b"Content-Length: 5000\r\n\r\n" + FINE),
    "more than its length": _sends(HEAD + b"Content-Length: 3\r\n\r\n" + FINE),
    "a negative length": _sends(HEAD + b"Content-Length: -7\r\n\r\n" + FINE),
    "bad chunks": _sends(HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n" + FINE),
    "dripped headers": _drips(HEAD, b"X: y\r\n"),
    "a dripped body": _drips(HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
    "endless hints": _drips(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "an endless body": _drips(HEAD + b"\r\n[", b"0.5, " * 20_000, 0.0),
    "a reset": _resets,
    "no answer": lambda connection: time.sleep(SECONDS),
    "a redirect to itself": _says(b"", "302 Found", Location="/"),
    "an error": _says(b"sorry", "500 \x1b[31mOops"),
    "try again in 30 years": _says(b"", "429 Slow", Retry_After="999999999"),
    "other answers every time": _varies(),
}


def _serve(listener: socket.socket) -> None:
    """Answer every connection by the lie whose number is the address."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        request = b""
        while b"\r\n\r\n" not in request:
            request += connection.recv(65536) or b"\r\n\r\n"
        number = request.split(b" ")[1].strip(b"/")
        list(LIES.values())[int(number or 0)](connection)


@contextmanager
def _server() -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=50)
    threading.Thread(target=_serve, args=(listener,), daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def lying_endpoints(folder: Path, count: int, seed: int) -> Part:
    """Attack every endpoint; each run ends in its time, within its memory, and in our words."""
    write_workspace(folder, 2)
    with timed(Part("lying endpoints", count)) as part, _server() as port:
        step = max(1, len(LIES) // count)
        chosen = list(enumerate(LIES))[::step][:count]
        with ThreadPoolExecutor(2) as threads:
            for name, problem in threads.map(lambda lie: _attack(folder, port, *lie), chosen):
                part.check(name, problem)
    return part


def _attack(folder: Path, port: int, number: int, name: str) -> tuple[str, str | None]:
    return name, attack_endpoint(folder, f"lie-{number}", f"http://127.0.0.1:{port}/{number}")


def attack_endpoint(folder: Path, run: str, url: str, **environment: str) -> str | None:
    """Attack an endpoint in a process of its own; return what is wrong with how that ended."""
    file = folder / f"{run}.toml"
    file.write_text(
        f'url = "{url}"\nlabels = ["negative", "positive"]\n'
        'timeout = 1.0\nretries = 1\n[json]\ntext = "{text}"\n',
        "utf-8",
    )
    words = ["attack", f"http:{file.name}", "key", "--data", "films.csv", "--budget", "5"]
    words += ["--name", run, "--quiet"]
    errors = folder / f"{run}.err"
    with errors.open("wb") as err:
        argv = [sys.executable, "-m", "brittle.cli", *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": err}
        process = subprocess.Popen(argv, cwd=folder, env=os.environ | environment, **quiet)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            time.sleep(0.05)
        else:
            process.kill()
            process.wait()
            return f"did not end within {SECONDS:g} s"
    if usage.ru_maxrss > MAX_MEMORY_KB:
        return f"took {usage.ru_maxrss / 1000:.0f} MB of memory"
    messages = errors.read_text("utf-8", "replace")
    if "\x1b" in messages:
        return "an escape sequence reached the terminal"
    return verdict(process.returncode, messages)
