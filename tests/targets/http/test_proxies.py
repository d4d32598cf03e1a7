"""Proxies of the environment: real ones on loopback, one of TLS, and one that drips."""

from __future__ import annotations

import base64
import json
import logging
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.errors import MissingPackage, TargetDown, TargetError, UsageError
from brittle.redaction import PROXY_VARIABLES, hide_in_default_logs, redact
from brittle.targets.answer_parsers import BlackBoxClassifier
from brittle.targets.http.endpoint import Endpoint
from brittle.targets.http.transport import of_endpoint
from brittle.text import Text

pytest.importorskip("httpx")

PASSWORD = "hunter-2-p@ss"
SENT = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
USER = f"me:{PASSWORD.replace('@', '%40')}"
ITEM = Text.of("a good film")
TIMEOUT_SECONDS, DRIP_SECONDS = 1.0, 25.0  # the drips would go on far longer than an exchange may
ENDPOINT = 'url = "http://nowhere.invalid/"\nretries = 0\n[json]\ntext = "{text}"\n'


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXY_VARIABLES, "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@dataclass
class Servers:
    """Sockets on loopback, each served by a function, a thread for every connection."""

    listeners: list[socket.socket] = field(default_factory=list)
    ending: threading.Event = field(default_factory=threading.Event)

    def start(self, talk: Callable[[socket.socket], None]) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        self.listeners.append(listener)
        threading.Thread(target=self._accept, args=(listener, talk), daemon=True).start()
        return int(listener.getsockname()[1])

    def _accept(self, listener: socket.socket, talk: Callable[[socket.socket], None]) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection, talk), daemon=True).start()

    def _serve(self, connection: socket.socket, talk: Callable[[socket.socket], None]) -> None:
        with connection, suppress(OSError):
            talk(connection)


@pytest.fixture
def servers() -> Iterator[Servers]:
    state = Servers()
    yield state
    state.ending.set()
    for listener in state.listeners:
        listener.close()


def read_request(connection: socket.socket) -> tuple[str, bytes]:
    """Read head and body of a request."""
    content = b""
    while b"\r\n\r\n" not in content:
        part = connection.recv(1 << 16)
        if not part:
            raise OSError("the client has gone")
        content += part
    head, _, body = content.partition(b"\r\n\r\n")
    lengths = [
        line.split(b":")[1] for line in head.splitlines() if b"content-length" in line.lower()
    ]
    while len(body) < int((lengths or [b"0"])[0]):
        body += connection.recv(1 << 16)
    return head.decode(), body


def reply(body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def echo(connection: socket.socket) -> None:
    """Be a proxy that sends back all that it was told; on a text with "fail" as an error."""
    while True:
        head, body = read_request(connection)
        text = json.dumps(f"{json.loads(body)['text']} {head} {PASSWORD}").encode()
        status = f"502 {SENT}" if b"fail" in body else "200 OK"
        connection.sendall(reply(b"x" * 100 * (b"fail" in body) + text, status))


def test_nothing_that_a_run_leaves_holds_the_password(
    servers: Servers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HTTP_PROXY", f"http://{USER}@127.0.0.1:{servers.start(echo)}")
    (tmp_path / "api.toml").write_text(ENDPOINT)
    options: Any = {"answers": "text", "goal": "keyword:zzzz"}
    with caplog.at_level(logging.DEBUG):
        run = brittle.attack(
            "http:api.toml", ["a good film", "these fail"], "random-swap", **options
        )
    answer = str(run.results()[0].answer)
    assert "proxy-authorization: Basic ***" in answer.lower().replace("basic", "Basic")
    assert run.results()[1].status == "error" and "502 ***" in str(run.results()[1].reason)
    run.report("report.html")
    run.export("rows.jsonl")
    shown = caplog.text + "".join(
        path.read_bytes().decode("utf-8", "replace") for path in tmp_path.rglob("*.*")
    )
    for secret in (PASSWORD, SENT, USER.split(":")[1]):
        assert secret not in shown


@pytest.mark.parametrize("variable", ["ALL_PROXY", "https_proxy"])
def test_a_socks_proxy_without_its_package_is_named_with_the_remedy(
    variable: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv(variable, f"socks5://{USER}@127.0.0.1:9")
    with pytest.raises(MissingPackage, match=f"{variable} names a SOCKS.*pip install socksio"):
        of_endpoint(Endpoint("http://nowhere.invalid/", {"text": "{text}"}, labels=("a", "b")))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.toml").write_text(f'labels = ["a", "b"]\n{ENDPOINT}')
    (tmp_path / "films.csv").write_text("text,label\na good film,a\na bad film,b\n")
    assert main(["attack", "http:api.toml", "key", "--data", "films.csv"]) == 2
    errors = capsys.readouterr().err
    assert "pip install socksio" in errors and "Traceback" not in errors
    assert PASSWORD not in errors and USER not in errors


@pytest.mark.parametrize(
    ("variable", "address"),
    [
        ("ALL_PROXY", f"gopher://{USER}@127.0.0.1:9"),
        ("HTTP_PROXY", f"http://{USER}@127.0.0.1:port"),
        ("HTTP_PROXY", "http://me:hunter-2-p#ss@127.0.0.1:9"),
        ("NO_PROXY", "http://[::"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_named(
    variable: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, address)
    with pytest.raises(UsageError, match=rf"\({variable}\) cannot be used.*Expected") as caught:
        of_endpoint(Endpoint("http://nowhere.invalid/", {"text": "{text}"}, labels=("a", "b")))
    assert "hunter" not in str(caught.value)


def test_a_proxy_that_wants_another_password_is_told_from_the_endpoint(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(reply(b"", "407 Proxy Authentication Required"))

    monkeypatch.setenv("HTTP_PROXY", f"http://{USER}@127.0.0.1:{servers.start(refuse)}")
    endpoint = Endpoint("http://nowhere.invalid/", {"text": "{text}"}, labels=("a", "b"), retries=0)
    target = of_endpoint(endpoint)
    with pytest.raises(TargetDown, match=r"407.*check user and password in HTTP_PROXY"):
        target.scores([ITEM])
    target.close()


@pytest.mark.parametrize(
    "address",
    [
        *(f"http://{USER}@proxy:3128", f"{USER}@proxy:3128", f"http://me:{PASSWORD}@proxy"),
        *(f"socks5h://{USER}@proxy/", f"http://{PASSWORD}@proxy", f"http://{PASSWORD}:@proxy"),
    ],
)
def test_the_password_is_hidden_in_every_message(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("https_proxy", address)
    assert PASSWORD not in redact(f"cannot reach {address} with {PASSWORD}")
    assert PASSWORD not in str(TargetDown(f"ProxyError: {address} ({PASSWORD})"))
    hide_in_default_logs()
    record = logging.LogRecord("urllib3", logging.WARNING, "", 0, "by %s", (address,), None)
    assert logging.lastResort is not None
    logging.lastResort.handle(record)
    assert PASSWORD not in record.getMessage() and "***" in record.getMessage()


@dataclass
class Tunnel:
    """A proxy that speaks TLS, and forwards to the endpoint; after some bytes, one at a time."""

    context: ssl.SSLContext
    endpoint: int
    servers: Servers
    fast_bytes: float

    def __call__(self, connection: socket.socket) -> None:
        with self.context.wrap_socket(connection, server_side=True) as client:
            read_request(client)
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            with socket.create_connection(("127.0.0.1", self.endpoint)) as server:
                threading.Thread(target=self._upwards, args=(client, server), daemon=True).start()
                self._downwards(client, server)

    def _upwards(self, client: ssl.SSLSocket, server: socket.socket) -> None:
        with suppress(OSError, ValueError):
            while content := client.recv(1 << 16):
                server.sendall(content)

    def _downwards(self, client: ssl.SSLSocket, server: socket.socket) -> None:
        end = time.monotonic() + DRIP_SECONDS
        sent = 0
        while content := server.recv(1 << 16):
            for start in range(0, len(content), 1 if sent >= self.fast_bytes else len(content)):
                if self.servers.ending.is_set() or time.monotonic() > end:
                    return
                is_slow = sent >= self.fast_bytes
                client.sendall(content[start : start + 1] if is_slow else content)
                sent += 1 if is_slow else len(content)
                time.sleep(0.1 if is_slow else 0)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate of localhost; the file holds its key too."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    file = tmp_path_factory.mktemp("certificate") / "localhost.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(
        [*command, "-keyout", str(file), "-out", f"{file}.crt"], check=True, capture_output=True
    )
    file.write_bytes(file.read_bytes() + Path(f"{file}.crt").read_bytes())
    return file


@pytest.fixture
def through_tls(
    servers: Servers, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., BlackBoxClassifier]]:
    """Return a target behind a proxy of TLS, of which the first bytes come fast."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    targets: list[BlackBoxClassifier] = []

    def answer(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as client:
            while True:
                _, body = read_request(client)
                padding = b" " * (300_000 if b"long" in body else 0)
                client.sendall(reply(b"[0.25, 0.75]" + padding))

    def start(fast_bytes: float) -> BlackBoxClassifier:
        endpoint = servers.start(answer)
        proxy = servers.start(Tunnel(context, endpoint, servers, fast_bytes))
        monkeypatch.setenv("HTTPS_PROXY", f"https://localhost:{proxy}")
        monkeypatch.setenv("SSL_CERT_FILE", f"{certificate}.crt")
        about: Any = {"labels": ("neg", "pos"), "retries": 0, "timeout": TIMEOUT_SECONDS}
        if fast_bytes == float("inf"):
            about["timeout"] = 30.0
        url = f"https://localhost:{endpoint}/"
        targets.append(of_endpoint(Endpoint(url, {"text": "{text}"}, **about)))
        return targets[-1]

    yield start
    for target in targets:
        target.close()


def test_tls_inside_of_tls(through_tls: Any) -> None:
    target = through_tls(float("inf"))
    for text in ("a good film", "a long film", "long " * 50_000, "a bad film"):
        assert target.scores([Text.of(text)]).tolist() == [[0.25, 0.75]]


@pytest.mark.slow
@pytest.mark.parametrize("fast_bytes", [0, 5_000], ids=["the inner handshake", "the answer"])
def test_the_deadline_holds_through_a_proxy_that_drips(through_tls: Any, fast_bytes: int) -> None:
    target = through_tls(fast_bytes)
    if fast_bytes:
        assert target.scores([ITEM]).tolist() == [[0.25, 0.75]]  # the answer is short yet
    start = time.monotonic()
    with pytest.raises((TargetDown, TargetError), match="no answer within 1 s"):
        target.scores([Text.of("a long film")])
    assert time.monotonic() - start < DRIP_SECONDS / 2  # twice: the endpoint is asked if it lives
