"""Real programs and endpoints that translate."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import TargetError, UsageError
from brittle.opening import as_target
from brittle.text import Text

GOOD, BAD = Text.of('a "good" film'), Text.of("a bad film")


def program(folder: Path, body: str) -> str:
    script = folder / "translate.py"
    script.write_text(
        "import json, os, sys\nfor line in sys.stdin:\n    text = json.loads(line)['text']\n"
        f"    {body}\n    sys.stdout.flush()\n"
    )
    return f"cmd:'{sys.executable}' -S '{script}'"


@pytest.mark.parametrize("body", ["print(text.upper())", "print(json.dumps(text.upper()))"])
def test_a_line_is_plain_or_json(body: str, tmp_path: Path) -> None:
    target = as_target(program(tmp_path, body), answers="text", timeout=10.0)
    assert target.translate([GOOD, BAD]) == ['A "GOOD" FILM', "A BAD FILM"]
    assert (target.labels, target.batch, target.costly) == ((), 1, True)
    target.close()


@pytest.mark.parametrize("line", ["42", "null", "[1]", '"quoted" and more'])
def test_a_plain_line_that_looks_like_json_is_a_translation(line: str, tmp_path: Path) -> None:
    target = as_target(program(tmp_path, f"print({line!r})"), answers="text", timeout=10.0)
    assert target.translate([GOOD]) == [line]
    target.close()


def test_a_crash_fails_alone_and_labels_are_refused(tmp_path: Path) -> None:
    spec = program(tmp_path, "os._exit(3) if 'bad' in text else print(text)")
    target = as_target(spec, answers="text", timeout=10.0)
    with pytest.raises(TargetError, match="failed twice on this text: it ended with exit code 3"):
        target.translate([BAD])
    assert target.translate([GOOD]) == ['a "good" film']
    target.close()
    with pytest.raises(UsageError, match="no labels and no scores"):
        as_target(spec, answers="text", labels="a,b")
    assert target.fingerprint != as_target(spec, labels="a,b").fingerprint


def test_a_line_without_an_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brittle.targets.command.program.MAX_LINE_BYTES", 1 << 12)
    spec = program(tmp_path, "sys.stdout.write('x' * 100_000 if 'bad' in text else text + '\\n')")
    target = as_target(spec, answers="text", timeout=10.0)
    assert target.translate([BAD, GOOD]) == ["x" * 4096, 'a "good" film']
    target.close()


class Upper(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["q"]
        texts = [asked] if isinstance(asked, str) else asked
        answers: list[Any] = [{"out": 7 if "bad" in text else text.upper()} for text in texts]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"data": answers}).encode())

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    pytest.importorskip("httpx")
    with ThreadingHTTPServer(("127.0.0.1", 0), Upper) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def endpoint(folder: Path, url: str, *lines: str) -> str:
    path = folder / "endpoint.toml"
    path.write_text("\n".join([f'url = "{url}"', *lines]))
    return f"http:{path}"


@pytest.mark.parametrize(
    ("path", "slot"), [("data.0.out", "{text}"), ("data.*.out", "{texts}")], ids=["one", "many"]
)
def test_an_endpoint_by_flag_or_by_its_file(path: str, slot: str, url: str, tmp_path: Path) -> None:
    about = (f'path = "{path}"', "[json]", f'q = "{slot}"')
    first = as_target(endpoint(tmp_path, url, *about), answers="text")
    second = as_target(endpoint(tmp_path, url, 'answers = "text"', *about))
    for target in (first, second):
        assert target.translate([GOOD, GOOD]) == ['A "GOOD" FILM'] * 2
        assert target.name == "http:endpoint" and target.translate([]) == []
        with pytest.raises(TargetError, match=r"gave 7, a int, as a translation"):
            target.translate([BAD])
        target.close()
    assert first.fingerprint == second.fingerprint


def test_an_endpoint_with_labels_is_no_translator(url: str, tmp_path: Path) -> None:
    spec = endpoint(tmp_path, url, 'labels = ["a", "b"]', "[json]", 'q = "{text}"')
    with pytest.raises(UsageError, match="labels or scores in its file, but it answers with texts"):
        as_target(spec, answers="text")
    spec = endpoint(tmp_path, url, 'answers = "words"', "[json]", 'q = "{text}"')
    with pytest.raises(UsageError, match="Unknown kind of answers 'words'"):
        as_target(spec)
