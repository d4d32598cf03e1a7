"""A real server on loopback: every shape of answer, and every way to fail."""

from __future__ import annotations

import email.utils
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import TargetDown, TargetError, UsageError
from brittle.opening import as_target
from brittle.targets.answer_parsers import BlackBoxClassifier
from brittle.targets.http.endpoint import Endpoint
from brittle.targets.http.transport import of_endpoint
from brittle.targets.options import TargetOptions
from brittle.text import Text

pytest.importorskip("httpx")

GOOD, BAD = Text.of("a good film"), Text.of("a bad film")
SCORES = {"a good film": [0.1, 0.9], "a bad film": [0.8, 0.2]}
Reply = tuple[int, Any] | tuple[int, Any, dict[str, str]]


@dataclass
class Server:
    """Answers with `reply(body)`: a status, what to send, perhaps headers."""

    url: str = ""
    reply: Callable[[Any], Reply] = lambda body: (200, SCORES.get(body["text"], [0.5, 0.5]))
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.bodies.append(body)
            state.headers.append(dict(self.headers))
            state.times.append(time.monotonic())
            status, content, *more = state.reply(body)
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            try:
                self.send_response(status)
                for name, value in (more[0] if more else {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
            except OSError:
                return  # the client has given up

        def log_message(self, *_: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_port}/classify"
    yield state
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture
def make_target(server: Server) -> Iterator[Callable[..., BlackBoxClassifier]]:
    """Make targets that do not really sleep; `slept` lists for how long they would have."""
    targets = []

    def make(**options: Any) -> BlackBoxClassifier:
        about = {"labels": ("neg", "pos"), "retries": 2, "timeout": 5.0}
        names = {"scores", "mask"} & set(options)
        asked = TargetOptions(**{name: options.pop(name) for name in names})
        endpoint = Endpoint(server.url, {"text": "{text}"}, **about)  # type: ignore[arg-type]
        slept: list[float] = []
        target = of_endpoint(replace(endpoint, **options), asked, sleep=slept.append)
        target.slept = slept  # type: ignore[attr-defined]
        targets.append(target)
        return target

    yield make
    for target in targets:
        target.close()


def test_one_text_a_request(server: Server, make_target: Any) -> None:
    target = make_target()
    assert target.scores([GOOD, BAD]).tolist() == [[0.1, 0.9], [0.8, 0.2]]
    assert server.bodies == [{"text": "a good film"}, {"text": "a bad film"}]
    assert (target.costly, target.in_process, target.batch, target.parallel) == (True, False, 1, 1)
    assert target.scores([]).shape == (0, 2)


def test_a_hole_becomes_the_mask(server: Server, make_target: Any) -> None:
    make_target(mask="[MASK]").scores([GOOD.mask(1)])
    make_target().scores([GOOD.mask(1)])
    assert server.bodies == [{"text": "a [MASK] film"}, {"text": "a  film"}]


@pytest.mark.parametrize(
    ("answer", "path", "more"),
    [
        ([0.1, 0.9], (), {}),
        ({"results": [{"scores": [0.1, 0.9]}]}, ("results", "0", "scores"), {}),
        ({"pos": 0.9, "neg": 0.1}, (), {}),
        ([[{"label": "pos", "score": 0.9}, {"label": "neg", "score": 0.1}]], ("0",), {}),
        (
            [{"n": "NEG", "p": 0.1}, {"n": "POS", "p": 0.9}],
            (),
            {"label_key": "n", "score_key": "p"},
        ),
        ({"p": 0.9}, ("p",), {"scores": "single"}),
        ({"logits": [0.0, float(np.log(9.0))]}, ("logits",), {"scores": "logits"}),
    ],
)
def test_every_shape_of_answer(
    server: Server, make_target: Any, answer: Any, path: Any, more: dict[str, Any]
) -> None:
    server.reply = lambda body: (200, answer)
    assert make_target(path=path, **more).scores([GOOD]) == pytest.approx(np.array([[0.1, 0.9]]))


def test_labels_that_it_names_need_no_list(server: Server, make_target: Any) -> None:
    server.reply = lambda body: (200, {"out": {"pos": 0.9, "neg": 0.1}})
    target = make_target(labels=None, path=("out",))
    assert target.labels == ("neg", "pos")
    assert target.scores([GOOD]).tolist() == [[0.1, 0.9]]
    assert len(server.bodies) == 2  # a plain sentence, and the text
    server.reply = lambda body: (200, {"out": [0.1, 0.9]})
    with pytest.raises(TargetError, match="has no labels"):
        target.scores([GOOD])


@pytest.mark.parametrize("answer", [[0.1, 0.9], "pos", {"scores": {"pos": 0.9}}, b"<html>"])
def test_labels_that_it_does_not_name_must_be_listed(
    server: Server, make_target: Any, answer: Any
) -> None:
    server.reply = lambda body: (200, answer)
    with pytest.raises(UsageError, match="plain sentence"):
        make_target(labels=None)


@pytest.mark.parametrize("answer", ["pos", {"label": "pos", "score": 0.6}, [0.4, 0.6]])
def test_one_label(server: Server, make_target: Any, answer: Any) -> None:
    server.reply = lambda body: (200, answer)
    target = make_target(scores="label")
    assert target.label_only
    assert target.scores([GOOD]).tolist() == [[0.0, 1.0]]
    server.reply = lambda body: (200, "pos")
    assert make_target().scores([GOOD]).tolist() == [[0.0, 1.0]]


def test_a_batch_is_one_request(server: Server, make_target: Any) -> None:
    server.reply = lambda body: (200, {"out": [{"s": SCORES[text]} for text in body["rows"]]})
    target = make_target(template={"rows": "{texts}"}, path=("out", "*", "s"), batch=2)
    assert target.batch == 2
    assert target.scores([GOOD, BAD, GOOD])[:, 1].tolist() == [0.9, 0.2, 0.9]
    assert [len(body["rows"]) for body in server.bodies] == [2, 1]


def test_pairs(server: Server, make_target: Any) -> None:
    server.reply = lambda body: (200, [0.5, 0.5])
    template = {"a": "{premise}", "b": "{hypothesis}"}
    make_target(template=template).scores(
        [Text.of({"premise": 'It "rains"', "hypothesis": "{text}"})]
    )
    assert server.bodies == [{"a": 'It "rains"', "b": "{text}"}]


def test_any_text_arrives_whole(server: Server, make_target: Any) -> None:
    nasty = 'NUL \x00, "quotes", \\ line\nbreak, emoji 🎬, שלום, e\u0301, <script>'
    make_target().scores([Text.of(nasty)])
    assert server.bodies == [{"text": nasty}]


def test_the_secret_is_sent_and_kept(
    server: Server, make_target: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    prints = []
    for secret in ("s3cret", "other"):
        monkeypatch.setenv("API_KEY", secret)
        target = make_target(headers={"Authorization": "Bearer ${API_KEY}"})
        target.scores([GOOD])
        assert server.headers[-1]["Authorization"] == f"Bearer {secret}"
        assert secret not in f"{target!r} {target.transport.endpoint!r} {target.name}"
        prints.append(target.fingerprint)
    assert prints[0] == prints[1]
    monkeypatch.delenv("API_KEY")
    with pytest.raises(UsageError, match="API_KEY"):
        make_target(headers={"Authorization": "Bearer ${API_KEY}"})


def test_the_fingerprint_is_that_of_the_question(make_target: Any) -> None:
    different = [
        make_target(),
        make_target(template={"text": "{text}", "model": "v2"}),
        make_target(labels=("a", "b")),
        make_target(path=("0",)),
        make_target(scores="label"),
        make_target(url="http://127.0.0.1:9/other"),
    ]
    assert len({target.fingerprint for target in different}) == len(different)
    assert make_target().fingerprint == make_target(retries=7, concurrency=3).fingerprint


def failing(times: int, *reply: Any) -> Callable[[Any], Reply]:
    left = [times]

    def replied(body: Any) -> Reply:
        left[0] -= 1
        return reply if left[0] >= 0 else (200, [0.1, 0.9])  # type: ignore[return-value]

    return replied


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_passing_trouble_is_waited_out(server: Server, make_target: Any, status: int) -> None:
    server.reply = failing(2, status, b"busy")
    target = make_target()
    assert target.scores([GOOD]).tolist() == [[0.1, 0.9]]
    assert len(server.bodies) == 3
    first, second = target.slept
    assert 0.25 <= first <= 0.5 <= second <= 1.0


@pytest.mark.parametrize("stated", ["7", "date"])
def test_the_server_says_how_long_to_wait(server: Server, make_target: Any, stated: str) -> None:
    after = email.utils.formatdate(time.time() + 8, usegmt=True) if stated == "date" else stated
    server.reply = failing(1, 429, b"", {"Retry-After": after})
    target = make_target()
    target.scores([GOOD])
    assert target.slept == [pytest.approx(7, abs=1.1)]


def test_a_server_that_asks_for_hours_is_down(server: Server, make_target: Any) -> None:
    server.reply = failing(99, 429, b"", {"Retry-After": "7200"})
    target = make_target()
    with pytest.raises(TargetDown, match="429"):
        target.scores([GOOD])
    assert (target.slept, len(server.bodies)) == ([], 1)


@pytest.mark.parametrize("status", [429, 500])
def test_lasting_trouble_stops_the_run(server: Server, make_target: Any, status: int) -> None:
    server.reply = failing(99, status, b"no room")
    with pytest.raises(TargetDown, match=f"{status}.*no room.*3 tries.*same command again"):
        make_target().scores([GOOD])


def test_a_text_that_breaks_the_server_fails_alone(server: Server, make_target: Any) -> None:
    server.reply = lambda body: (500, b"") if body["text"] == "a bad film" else (200, [0.1, 0.9])
    target = make_target()
    with pytest.raises(TargetError, match="fails on this text, but answers others"):
        target.scores([BAD])
    assert target.scores([GOOD]).tolist() == [[0.1, 0.9]]


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_an_answer_that_cannot_be_unpacked_fails_alone(
    server: Server, make_target: Any, encoding: str
) -> None:
    packed = (200, b"[0.1, 0.9]", {"Content-Encoding": encoding})
    server.reply = lambda body: packed if body["text"] == "a bad film" else (200, [0.1, 0.9])
    target = make_target(retries=0)
    with pytest.raises(TargetError, match=r"fails on this text.*(is damaged|is compressed)"):
        target.scores([BAD])
    assert target.scores([GOOD]).tolist() == [[0.1, 0.9]]


def test_an_answer_that_is_nested_too_deeply_fails_alone(server: Server, make_target: Any) -> None:
    server.reply = lambda body: (200, b"[" * 200_000)
    with pytest.raises(TargetError, match="not JSON"):
        make_target(retries=0).scores([BAD])


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_text_that_is_refused_fails_alone_and_at_once(
    server: Server, make_target: Any, status: int
) -> None:
    server.reply = failing(1, status, {"detail": "too rude"})
    with pytest.raises(TargetError, match=f"{status}.*too rude"):
        make_target().scores([BAD])
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "Check the key"), (403, "Check the key"), (404, "Correct the TOML"), (307, "redirects")],
)
def test_a_wrong_description_stops_the_run_at_once(
    server: Server, make_target: Any, status: int, message: str
) -> None:
    server.reply = failing(99, status, b"", {"Location": "http://127.0.0.1:9/there"})
    with pytest.raises(TargetDown, match=message):
        make_target().scores([GOOD])
    assert len(server.bodies) == 1


def test_no_server_at_all(make_target: Any) -> None:
    target = make_target(url="http://127.0.0.1:9/closed")
    with pytest.raises(TargetDown, match="ConnectError"):
        target.scores([GOOD])
    assert len(target.slept) == 2


def test_a_server_that_hangs(server: Server, make_target: Any) -> None:
    released = threading.Event()

    def hang(body: Any) -> Reply:
        released.wait(60)
        return 200, [0.1, 0.9]

    server.reply = hang
    start = time.monotonic()
    with pytest.raises(TargetDown, match=r"no answer within 0\.1 s"):
        make_target(timeout=0.1, retries=1).scores([GOOD])
    released.set()
    assert time.monotonic() - start < 30


def test_an_answer_that_trickles_is_cut_off() -> None:
    import socket

    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def trickle() -> None:
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not over.wait(0.02):
                    try:
                        connection.sendall(b" ")
                    except OSError:
                        break

    thread = threading.Thread(target=trickle)
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    endpoint = Endpoint(url, "{text}", labels=("a", "b"), timeout=2.0, retries=0)
    target = of_endpoint(endpoint)
    try:
        with pytest.raises(TargetDown, match=r"no answer within 2 s"):
            target.scores([GOOD])
    finally:
        over.set()
        target.close()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>", "not JSON: '<html>'"),
        ({"other": 1}, "has no 'scores'"),
        ({"scores": [0.2, 0.3, 0.5]}, "Expected"),
        ({"scores": {"pos": 0.5, "meh": 0.5}}, "'meh'"),
        ({"scores": "meh"}, "'meh'"),
        ({"scores": [None, None]}, "not finite"),
        (
            b'{"scores": {"pos": 0.5, "neg": 0.2, "pos": 0.8}}',
            "named 'pos' twice in one JSON object",
        ),
        ({"scores": [{"label": x, "score": 0.5} for x in ("pos", "pos")]}, "label 'pos' twice"),
        ({"scores": {"pos": "0.5", "neg": "0.5"}}, "'0.5'. Expected a number"),
        ({"scores": ["0.5", "0.5"]}, "'0.5', a str"),
        ({"scores": [True, False]}, "True, a bool"),
    ],
)
def test_an_answer_that_cannot_be_read_fails_that_text(
    server: Server, make_target: Any, content: Any, message: str
) -> None:
    server.reply = lambda body: (200, content)
    with pytest.raises(TargetError, match=message):
        make_target(path=("scores",)).scores([GOOD])


def test_scores_that_are_none_must_be_declared(server: Server, make_target: Any) -> None:
    server.reply = lambda body: (200, [3.0, -2.0])
    with pytest.raises(UsageError, match="--scores logits"):
        make_target().scores([GOOD])


def test_the_rate_is_limited_across_threads(server: Server) -> None:
    endpoint = Endpoint(
        server.url, {"text": "{text}"}, labels=("neg", "pos"), per_second=0.5, concurrency=4
    )
    turns: list[float] = []  # when each request that has to wait is due
    target = of_endpoint(endpoint, sleep=lambda pause: turns.append(time.monotonic() + pause))
    assert target.parallel == 4
    start = time.monotonic()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: target.scores([GOOD]), range(11)))
    target.close()
    assert max(turns) - start >= 10 / 0.5  # however fast or slow the threads are


def test_requests_really_run_side_by_side(server: Server, make_target: Any) -> None:
    together = threading.Barrier(3, timeout=60)

    def meet(body: Any) -> Reply:
        together.wait()
        return 200, [0.1, 0.9]

    server.reply = meet
    target = make_target(concurrency=3)
    with ThreadPoolExecutor(3) as threads:
        rows = list(threads.map(lambda _: target.scores([GOOD]), range(6)))
    assert np.concatenate(rows).shape == (6, 2)


def test_a_file_makes_the_target(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "reviews.toml"
    path.write_text(f'url = "{server.url}"\n[json]\ntext = "{{text}}"\n')
    with pytest.raises(UsageError, match="--labels"):
        as_target(f"http:{path}")
    target = as_target(f"http:{path}", labels="neg,pos")
    assert target.name == "http:reviews"
    assert target.scores([GOOD]).tolist() == [[0.1, 0.9]]
    target.close()  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=r"http:FILE\.toml"):
        as_target("http:reviews.json")
    alone = as_target(server.url, labels="neg,pos")  # without a file
    assert alone.scores([GOOD]).tolist() == [[0.1, 0.9]]
    alone.close()  # type: ignore[attr-defined]
