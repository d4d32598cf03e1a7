"""Hostile proxies: those of the environment that cannot be used, lie, or never come to an end."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

from hostile.endpoints import attack_endpoint
from hostile.part import Part, timed
from hostile.workspace import write_workspace

PASSWORD = "hunter-2-s3cret"
SENT = b64encode(f"me:{PASSWORD}".encode())
DRIP_SECONDS = 120.0
Talk = Callable[[socket.socket], None]


def _read_head(connection: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(65536) or b"\r\n\r\n"
    return head


def _drip(connection: socket.socket, start: bytes, drop: bytes) -> None:
    connection.sendall(start)
    end = time.monotonic() + DRIP_SECONDS
    while time.monotonic() < end:
        connection.sendall(drop)
        time.sleep(0.2)


def _says(status: str) -> Talk:
    """Send back what was received, the password among it."""

    def talk(connection: socket.socket) -> None:
        head = _read_head(connection) + PASSWORD.encode()
        length = f"Content-Length: {len(head)}\r\n\r\n"
        connection.sendall(f"HTTP/1.1 {status}\r\n{length}".encode() + head)

    return talk


def _drips_connect(connection: socket.socket) -> None:
    _read_head(connection)
    _drip(connection, b"HTTP/1.1 200 OK\r\n", b"X: y\r\n")


def _drips_handshake(connection: socket.socket) -> None:
    _drip(connection, b"\x16\x03\x03\x3f\xff", b"\x02")


def _drips_inner_handshake(certificate: Path) -> Talk:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def talk(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as client:
            _read_head(client)
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            _drip(client, b"\x16\x03\x03\x3f\xff", b"\x02")

    return talk


def _make_certificate(folder: Path) -> Path | None:
    """Make a certificate of localhost, with its key in the same file; None without openssl."""
    if shutil.which("openssl") is None:
        return None
    file = folder / "localhost.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command += ["-keyout", str(file), "-out", f"{file}.crt"]
    subprocess.run(command, check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + Path(f"{file}.crt").read_bytes())
    return file


def _serve(stack: ExitStack, talk: Talk) -> int:
    listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=20))

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            talk(connection)

    threading.Thread(target=accept, daemon=True).start()
    return int(listener.getsockname()[1])


def _environments(folder: Path, stack: ExitStack) -> Mapping[str, dict[str, str]]:
    """Return the variables that name a proxy, by what is wrong with it."""
    user = f"me:{PASSWORD}@"
    named = {
        "socks without its package": {"ALL_PROXY": f"socks5://{user}127.0.0.1:9"},
        "an unknown protocol": {"ALL_PROXY": f"gopher://{user}127.0.0.1:9"},
        "a port that is none": {"HTTP_PROXY": f"http://{user}127.0.0.1:many"},
        "a password with a mark": {"HTTP_PROXY": f"http://me:{PASSWORD}#x@127.0.0.1:9"},
        "no host": {"HTTP_PROXY": "http://"},
        "a bracket in NO_PROXY": {"NO_PROXY": "http://[::"},
        "nobody there": {"HTTP_PROXY": f"http://{user}127.0.0.1:9"},
    }
    for status in ("407 Proxy Authentication Required", "502 Bad", "200 OK", "400 No"):
        port = _serve(stack, _says(status))
        named[f"the password in {status}"] = {"HTTP_PROXY": f"http://{user}127.0.0.1:{port}"}
    port = _serve(stack, _drips_connect)
    named["a dripped reply"] = {"HTTP_PROXY": f"http://{user}127.0.0.1:{port}"}
    named["a dripped tunnel"] = {"HTTPS_PROXY": f"http://{user}127.0.0.1:{port}"}
    port = _serve(stack, _drips_handshake)
    named["a dripped handshake"] = {"HTTPS_PROXY": f"https://{user}127.0.0.1:{port}"}
    if certificate := _make_certificate(folder):
        port = _serve(stack, _drips_inner_handshake(certificate))
        named["a dripped handshake inside of TLS"] = {
            "HTTPS_PROXY": f"https://{user}localhost:{port}",
            "SSL_CERT_FILE": f"{certificate}.crt",
        }
    return named


def hostile_proxies(folder: Path, count: int, seed: int) -> Part:
    """Attack through every proxy; each run ends in its time and leaves no password."""
    write_workspace(folder, 2)
    part = Part("hostile proxies", count)
    with timed(part), ExitStack() as stack, ThreadPoolExecutor(2) as threads:
        chosen = list(enumerate(_environments(folder, stack).items()))[-count:]
        part.asked = min(count, len(chosen))
        for name, problem in threads.map(lambda one: _attack(folder, *one), chosen):
            part.check(name, problem)
    return part


def _attack(folder: Path, number: int, proxy: tuple[str, dict[str, str]]) -> tuple[str, str | None]:
    name, environment = proxy
    scheme = "https" if "HTTPS_PROXY" in environment else "http"
    plain = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"), "")
    run = f"proxy-{number}"
    url = f"{scheme}://nowhere.invalid/"
    problem = attack_endpoint(folder, run, url, **(plain | environment))
    left = [*(folder / "runs").glob(f"{run}.*"), folder / f"{run}.err"]
    leaks = [
        path.name
        for path in left
        for secret in (PASSWORD.encode(), SENT)
        if secret in path.read_bytes()
    ]
    return name, problem or (f"the password is in {leaks[0]}" if leaks else None)
