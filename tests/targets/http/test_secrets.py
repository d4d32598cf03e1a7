"""An endpoint that echoes the key: it is in no message, row, manifest, log, report or export."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.errors import TargetError, UsageError
from brittle.opening import as_target
from brittle.text import Text

pytest.importorskip("httpx")

SECRET = "s3cret-k3y"
FILE = """
url = "{url}/?api=${{BRITTLE_TEST_KEY}}"
retries = 0
[headers]
Authorization = "Bearer ${{BRITTLE_TEST_KEY}}"
[json]
text = "{{text}}"
"""


class Echo(BaseHTTPRequestHandler):
    """Answers the text and the headers that it got; of a text with "fail", as an error."""

    def do_POST(self) -> None:
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
        answer = f"{text} {self.headers['Authorization']} {self.path}"
        content = json.dumps(answer).encode()
        # The key stands where a quote of the first characters would cut it.
        content = b"x" * 113 + content if "fail" in text else content
        self.send_response(400 if "fail" in text else 200, f"Bad {SECRET}\x1b[2J")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("BRITTLE_TEST_KEY", SECRET)
    monkeypatch.chdir(tmp_path)
    http = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    (tmp_path / "api.toml").write_text(FILE.format(url=f"http://127.0.0.1:{http.server_port}"))
    yield "http:api.toml"
    http.shutdown()
    http.server_close()
    thread.join()


def test_nothing_that_a_run_leaves_holds_the_key(
    endpoint: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts = ["a good film", "these fail"]
    with caplog.at_level(logging.DEBUG):
        run = brittle.attack(endpoint, texts, "random-swap", answers="text", goal="keyword:zzzz")
    assert "***" in str(run.results()[0].answer)
    run.report("report.html")
    run.export("rows.csv")
    run.export("rows.jsonl")
    assert "HTTP Request" in caplog.text and "***" in caplog.text
    assert SECRET not in caplog.text
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


def test_no_message_holds_the_key_or_a_part_of_it(endpoint: str) -> None:
    target: Any = as_target(endpoint, answers="text")
    with pytest.raises(TargetError, match="refuses this text") as caught:
        target.translate([Text.of("these fail")])
    assert "\x1b" not in str(caught.value)
    assert SECRET[:4] not in str(caught.value)
    target.close()


@pytest.mark.parametrize("end", ["\n", "\r\nX-Evil: 1", "é"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(
    endpoint: str, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setenv("BRITTLE_TEST_KEY", SECRET + end)
    with pytest.raises(UsageError, match="header Authorization") as caught:
        as_target(endpoint, answers="text")
    assert SECRET[:4] not in str(caught.value)


def test_a_key_that_is_written_out_in_the_file_is_hidden_too(endpoint: str, tmp_path: Path) -> None:
    file = tmp_path / "api.toml"
    file.write_text(file.read_text().replace("${BRITTLE_TEST_KEY}", SECRET).replace("?api", "?key"))
    target: Any = as_target(endpoint, answers="text")
    assert target.translate([Text.of("a film")]) == ["a film Bearer *** /?key=***"]
    target.close()
