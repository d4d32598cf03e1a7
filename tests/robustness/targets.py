"""Targets that raise, hang, or answer what they should not."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.errors import TargetDown, UsageError
from brittle.opening import as_target
from brittle.testing import FakeTarget
from brittle.text import Text
from robustness.table import (
    ATTACK,
    WEIGHTS,
    attacked,
    command,
    contents,
    equal_to_fresh,
    row,
    write_workspace,
)

LABELS = ["negative", "positive"]
EXAMPLES = [("a good film", "positive"), ("a good story", "positive"), ("a great plot", "positive")]


def good(texts: list[str]) -> list[list[float]]:
    return [list(row) for row in FakeTarget(WEIGHTS).scores([Text.of(text) for text in texts])]


def check_down(folder: Path, function: Any, match: str) -> None:
    """Check that a function which never answers correctly ends the run with a reason."""
    with pytest.raises(TargetDown, match=match) as stopped:
        attacked(folder, *EXAMPLES, target=function, labels=LABELS)
    assert stopped.value.exit_code == 3


def check_error_on_some(folder: Path, function: Any, match: str) -> None:
    """Check that only its own case fails if a function fails on “great”."""
    *others, failed = attacked(folder, *EXAMPLES, target=function, labels=LABELS, name="some")
    assert failed.status == "error" and match in failed.reason and failed.original == "a great plot"
    *expected, _ = attacked(folder, *EXAMPLES, target=good, labels=LABELS, name="good")
    assert [(r.status, r.adversarial, r.queries) for r in others] == [
        (r.status, r.adversarial, r.queries) for r in expected
    ]
    assert {r.status for r in others} == {"broken"}


@row("a target that raises on every text", "exit 3, with what it raised")
def raises(folder: Path) -> None:
    def broken(texts: list[str]) -> Any:
        raise RuntimeError("no weights")

    check_down(folder, broken, "RuntimeError: no weights")


@row("a target that raises on some texts", "`error` with the reason, only for their cases")
def raises_on_some(folder: Path) -> None:
    def picky(texts: list[str]) -> Any:
        if any("great" in text for text in texts):
            raise RuntimeError("too great")
        return good(texts)

    check_error_on_some(folder, picky, "RuntimeError: too great")


@row("nothing but errors", "exit 3 after 25 in a row; `--retry-errors` attacks them again")
def errors_without_end(folder: Path) -> None:
    broken = False

    def breaks(texts: list[str]) -> Any:
        if broken and any("film" in text for text in texts):
            raise RuntimeError("gone")
        return good(texts)

    examples = [(f"a good great film {i}", "positive") for i in range(80)]
    target = as_target(breaks, labels=LABELS)
    stopped = {"target": target, "name": "run"}
    assert target.fingerprint

    def breaking(progress: Any) -> None:
        nonlocal broken
        broken = True

    with pytest.raises(TargetDown, match="--retry-errors"):
        attacked(folder, *examples, progress=breaking, **stopped)
    broken = False
    rows = attacked(folder, *examples, retry_errors=True, **stopped)
    assert len(rows) == 80 and {r.status for r in rows} == {"broken"}


@row("a target that hangs, in the process", "exit 3 after `--watchdog` seconds; resumes", slow=True)
def hangs(folder: Path) -> None:
    workspace = write_workspace(folder / "hung", 160)
    start = time.monotonic()
    ended = command(workspace, *ATTACK, "--watchdog", "2", env={"HANG_ON": "150"})
    assert ended.returncode == 3 and "seems to hang" in ended.stderr, ended.stderr
    assert "Resume with: brittle attack python:model:classify" in ended.stderr
    assert time.monotonic() - start < 30
    assert 0 < len(brittle.open_run("run", workspace / "runs").results()) < 160
    equal_to_fresh(workspace, folder / "fresh", 160)


@row("a function that hangs at once", "exit 3 after `--watchdog` seconds", slow=True)
def hangs_at_once(folder: Path) -> None:
    workspace = write_workspace(folder, 2)
    ended = command(workspace, *ATTACK, "--watchdog", "0.5", env={"HANG_ON": "film"})
    assert ended.returncode == 3 and "seems to hang" in ended.stderr, ended.stderr


@row(
    "an endpoint that hangs",
    "exit 3 after `timeout` and `retries` of its TOML file; resumes",
    slow=True,
)
def endpoint_hangs(folder: Path) -> None:
    asked: list[str] = []
    mended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
            asked.append(text)
            if len(asked) > 30:
                mended.wait(20)
            self.send_response(200)
            self.end_headers()
            # The client may have given up.
            with contextlib.suppress(OSError):
                self.wfile.write(json.dumps(good([text])[0]).encode())

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        toml = folder / "endpoint.toml"
        toml.write_text(
            f'url = "http://127.0.0.1:{server.server_port}/"\nlabels = ["negative", "positive"]\n'
            'timeout = 0.3\nretries = 1\n[json]\ntext = "{text}"\n'
        )
        with pytest.raises(TargetDown, match=r"no answer within 0\.3 s \(2 tries\)"):
            attacked(folder, *EXAMPLES, target=f"http:{toml}")
        mended.set()
        paid, unanswered = set(asked[:30]), asked[30]
        del asked[:]
        rows = attacked(folder, *EXAMPLES, target=f"http:{toml}")
        # The original of a winner and the winner itself are asked once more, alone.
        alone = {text for r in rows for text in (r.original, r.adversarial)}
        assert asked[0] == unanswered and not paid & (set(asked) - alone)
        server.shutdown()
    again = attacked(folder, *EXAMPLES, target=good, labels=LABELS)
    assert [(r.status, r.adversarial, r.queries) for r in rows] == [
        (r.status, r.adversarial, r.queries) for r in again
    ]


@row("a program that hangs", "exit 3 after `--timeout` seconds (four times that at its start)")
def program_hangs(folder: Path) -> None:
    target = as_target("cmd:sleep 60", labels=LABELS, timeout=0.1)
    start = time.monotonic()
    with pytest.raises(TargetDown, match=r"did not answer within 0\.4 s"):
        attacked(folder, *EXAMPLES, target=target)
    assert time.monotonic() - start < 20


@row("scores that are NaN", "`error` for their cases; exit 3 if there is nothing else")
def nan(folder: Path) -> None:
    check_down(folder, lambda texts: [[float("nan")] * 2 for _ in texts], "not finite")

    def sometimes(texts: list[str]) -> Any:
        hit = ["great" in text for text in texts]
        return [[float("nan")] * 2 if h else row for h, row in zip(hit, good(texts))]

    check_error_on_some(folder, sometimes, "not finite")


@row("too few or too many rows", "the same, with the number of rows got and expected")
def too_few(folder: Path) -> None:
    check_down(folder, lambda texts: good(texts)[1:], "gave 0 answers for 1 texts")
    check_down(folder, lambda texts: good([*texts, "more"]), "gave 2 answers for 1 texts")

    def merges(texts: list[str]) -> Any:
        return good([text for text in texts if "great" not in text])

    check_error_on_some(folder, merges, "gave 0 answers for 1 texts")


@row("rows of another width, or other labels", "the same, with the labels expected")
def other_classes(folder: Path) -> None:
    check_down(
        folder, lambda texts: [[0.2, 0.3, 0.5] for _ in texts], r"\(1, 3\).*negative, positive"
    )
    check_down(folder, lambda texts: ["spam" for _ in texts], "'spam'. Expected one of: negative")
    check_down(folder, lambda texts: None, "gave None")

    def sometimes(texts: list[str]) -> Any:
        names = [LABELS[int(row[1] > row[0])] for row in good(texts)]
        return ["spam" if "great" in text else name for text, name in zip(texts, names)]

    rows = attacked(folder, *EXAMPLES, target=sometimes, labels=LABELS)
    assert [r.status for r in rows] == ["broken", "broken", "error"] and "'spam'" in rows[-1].reason


@row("a target object with a bug in its own `scores`", "the same: checked again before it counts")
def broken_object(folder: Path) -> None:
    class Narrow(FakeTarget):
        def scores(self, items: Any) -> Any:
            return super().scores(items)[:, :1]

    check_down(folder, Narrow(WEIGHTS), r"shape \(1, 1\) for 1 texts")

    class Nan(FakeTarget):
        def scores(self, items: Any) -> Any:
            return super().scores(items) * float("nan")

    check_down(folder, Nan(WEIGHTS), "not finite")


@row("scores that are not probabilities", "exit 2, naming `--scores`; on some texts only: `error`")
def no_probabilities(folder: Path) -> None:
    def logits(texts: list[str]) -> Any:
        return [[-3.0, 2.0 + len(text)] for text in texts]

    for function, message in (
        (logits, "--scores logits"),
        (lambda t: [0.5] * len(t), "--scores single"),
    ):
        with pytest.raises(UsageError, match=message):
            attacked(folder, *EXAMPLES, target=function, labels=LABELS)

    def sometimes(texts: list[str]) -> Any:
        hit = ["great" in text for text in texts]
        return [[0.0, 0.0] if h else row for h, row in zip(hit, good(texts))]

    check_error_on_some(folder, sometimes, "not probabilities, for example [0, 0]")


@row("a function that ends the program", "exit 3 instead, also if it calls `os._exit(0)`")
def ends_the_program(folder: Path) -> None:
    def leaves(texts: list[str]) -> Any:
        raise SystemExit(0)

    check_down(folder, leaves, r"SystemExit\(0\)")

    def leaves_at_once(texts: list[str]) -> Any:
        os._exit(0)

    before = os._exit
    check_down(folder, leaves_at_once, r"os\._exit\(0\).*--workers 2")
    assert os._exit is before


@row(
    "a function that calls `os._exit(0)` on some texts",
    "exit 3, and the run is not finished; with `--workers 2` an `error` for their cases alone",
    slow=True,
)
def exits_on_some(folder: Path) -> None:
    workspace = write_workspace(folder / "here", 10)
    dies = {"DIE_ON": "7", "DIE_BY": "exit"}
    ended = command(workspace, *ATTACK, env=dies)
    assert ended.returncode == 3 and "os._exit(0)" in ended.stderr and not ended.stdout
    assert "Resume with: brittle attack python:model:classify" in ended.stderr
    assert not brittle.open_run("run", workspace / "runs").results()
    listed = json.loads(command(workspace, "list", "runs", "--json").stdout)
    assert [run["cases"] for run in listed] == ["0/10"]
    ended = command(workspace, *ATTACK, "--workers", "2", env=dies)
    assert ended.returncode == 0 and "died (exit code 0)" in ended.stderr
    check_only_one_ends_as_an_error(workspace, folder / "fresh", 10)


@row(
    "a text that kills the process, by a crash in native code or otherwise",
    "with `--workers 2` an `error` for its case alone; else the next start names it, and goes on",
    slow=True,
)
def kills_the_process(folder: Path) -> None:
    for how, number, word, count, asked in (
        ("crash", -signal.SIGSEGV, "(Segmentation fault) ", 40, 32),
        ("kill", -9, "", 10, 10),
    ):
        workspace = write_workspace(folder / how, count)
        dies = {"DIE_ON": "7", "DIE_BY": how}
        ended = command(workspace, *ATTACK, env=dies)
        assert ended.returncode == number and (workspace / "runs" / "run.asking").exists()
        ended = command(workspace, *ATTACK, env=dies)
        stated = f"without an error message {word}while the target was asked about {asked} "
        assert stated in ended.stderr
        check_named(ended)
        check_only_one_ends_as_an_error(workspace, folder / f"{how}-fresh", count)
    workspace = write_workspace(folder / "workers", 10)
    check_named(command(workspace, *ATTACK, "--workers", "2", env=dies))
    check_only_one_ends_as_an_error(workspace, folder / "workers-fresh", 10)


def check_named(ended: subprocess.CompletedProcess[str]) -> None:
    assert ended.returncode == 0, ended.stderr
    assert "asked about one case only: 'dull idea actor 7'" in ended.stderr


def check_only_one_ends_as_an_error(workspace: Path, fresh: Path, count: int) -> None:
    """Check that a run has one error, at the text that ends in 7, and is else as undisturbed."""
    assert command(write_workspace(fresh, count), *ATTACK, "--quiet").returncode == 0
    rows, _ = contents(workspace / "runs", "run")
    expected, _ = contents(fresh / "runs", "run")
    errors = [row for row, other in zip(rows, expected) if row != other]
    assert len(rows) == count and len(errors) == 1
    run = brittle.open_run("run", workspace / "runs")
    (failed,) = [result for result in run.results() if result.status == "error"]
    assert failed.original.endswith(" 7") and "died" in failed.reason
    assert {path.name for path in (workspace / "runs").iterdir()} == {"run.sqlite", "run.lock"}
