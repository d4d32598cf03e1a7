"""Servers that answer too much, wrongly, or with the key; and a run that is killed."""

from __future__ import annotations

import csv
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.runs.run import Run
from brittle.targets.chat.answers import MAX_READ_CHARACTERS
from targets.chat.serving import ChatServer, classifier, examples, judge, reply_with, text_in

SECRET = "sk-very-secret-0123456789"
ASK: dict[str, Any] = {"measures": "none", "progress": False, "budget": 6}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


ANSWERS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "300 kB": (lambda body: reply_with("x" * 300_000, body), "unparsed", ""),
    "a label in 300 kB": (lambda b: reply_with("x " * 150_000 + "positive", b), "unparsed", ""),
    "no JSON": (lambda _: b"<html>", "error", "not JSON"),
    "other JSON": (lambda _: {"detail": "no"}, "error", "choices.0.message.content"),
    "half of it": (lambda _: b'{"choices": [{"mess', "error", "not JSON"),
    "nested": (lambda _: b"[" * 200_000, "error", "not JSON"),
    "control characters": (lambda b: reply_with("\x1b[2J\u202e\x00", b), "unparsed", ""),
    "refused by status": (lambda _: (400, {"error": "content policy"}), "error", "refuses"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_hostile_answer_costs_its_own_case_alone(
    server: ChatServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    hostile, status, reason = ANSWERS[name]
    server.reply = lambda body: hostile(body) if "number 1 " in text_in(body) else judge(body)
    run = brittle.attack(server.spec, examples(4), "salient-swap", **ASK)
    rows = {row.original: row for row in run.results()}
    (row,) = (row for text, row in rows.items() if "number 1 " in text)
    assert row.status == status and reason in row.reason
    assert {r.status for r in rows.values() if r is not row} <= {"broken", "held", "out of budget"}
    assert "\x1b" not in caplog.text and len(row.reason) < 1_000


@pytest.mark.parametrize("answers", ["scores", "text"])
def test_an_answer_that_quotes_the_key_leaves_it_nowhere(
    server: ChatServer,
    answers: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    header = {"name": SECRET, "arguments": SECRET}

    def reply(body: Any) -> Any:
        if "number 1 " in text_in(body):
            return 422, f"bad key {SECRET}".encode()
        return reply_with(f"Your key is {SECRET}.", body, tool_calls=[{"function": header}])

    server.reply = reply
    more: dict[str, Any] = {"answers": "text", "goal": "contains:zzz"} if answers == "text" else {}
    with caplog.at_level(logging.DEBUG):
        run = brittle.attack(
            *(server.spec, examples(4) if not more else [t for t, _ in examples(4)]),
            *("random-swap",),
            key_env="MY_KEY",
            **ASK,
            **more,
        )
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    run.report("report.html")
    run.export("rows.csv")
    run.export("rows.jsonl")
    assert SECRET not in caplog.text
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path
    if more:
        assert "***" in str(run.results()[0].answer)


QUOTES: dict[str, Callable[[Any], Any]] = {
    "a refusal": lambda b: reply_with(None, b, refusal=f"No: {SECRET}"),
    "a message of parts": lambda b: {
        "choices": [{"message": {"content": [{"text": SECRET[:9]}, {"text": SECRET[9:]}]}}]
    },
    "the usage": lambda b: reply_with("positive", b) | {"usage": {"prompt_tokens": SECRET}},
    "the reason to end": lambda b: {
        "choices": [{"finish_reason": SECRET, "message": {"content": "positive"}}]
    },
    "no message": lambda _: {"error": {"message": f"Incorrect API key: {SECRET}"}},
    "no JSON": lambda _: f"<p>{'x' * 70}{SECRET}{SECRET}".encode(),
    "escaped JSON": lambda b: (
        json.dumps(reply_with(SECRET, b)).replace("sk-", "\\u0073k-").encode()
    ),
    "a cut answer": lambda b: reply_with("x" * (MAX_READ_CHARACTERS - 9) + SECRET, b),
    "a wrong status": lambda _: (418, {"error": SECRET}),
    "an unknown key": lambda _: (401, {"error": f"Incorrect API key provided: {SECRET}"}),
}


@pytest.mark.parametrize("name", QUOTES)
def test_the_key_is_nowhere_in_what_a_command_prints_and_stores(
    server: ChatServer,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """All that the command line writes: both streams, logs, the run, its page and its rows."""
    monkeypatch.setenv("MY_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    with Path("d.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *examples(4)])
    server.reply = lambda body: QUOTES[name](body) if "number 1 " in text_in(body) else judge(body)
    attack = ["attack", f"{server.spec}&retries=0", "salient-swap", "--data", "d.csv", "--name"]
    attack += ["run", "--budget", "3", "--measures", "none", "--key-env", "MY_KEY"]
    assert main(attack) in (0, 3)
    assert main(["show", "run", "--all"]) == main(["export", "run", "rows.jsonl"]) == 0
    assert main(["report", "run", "--out", "page.html"]) == 0
    streams = capsys.readouterr()
    printed = (streams.out + streams.err + caplog.text).encode()
    assert b"Traceback" not in printed and b"Run: runs/run.sqlite" in printed
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in kept} >= {"run.sqlite", "page.html", "rows.jsonl"}
    part = SECRET[:9].encode()  # a key that is cut in two gives half of itself away
    assert part not in printed
    for path in kept:
        assert part not in path.read_bytes(), path


def test_a_server_that_stops_is_named_and_what_it_said_is_kept(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the command line: exit code 3, the words that resume it, and no answer asked twice."""
    with Path("d.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *examples(20)])
    words = ["attack", f"{server.spec}&retries=0", "salient-swap", "--data", "d.csv", "--name"]
    words += ["half", "--budget", "6", "--measures", "none", "--repeats", "3"]
    server.most = 200
    assert main(words) == 3
    said = capsys.readouterr().err
    assert "Resume with: brittle attack" in said and "500" in said and "Traceback" not in said
    finished = Run("runs/half.sqlite").results()
    assert 5 < len(finished) < 20
    assert main(["show", "half"]) == 0 and "of 20" in capsys.readouterr().out
    server.most = None
    assert main(words) == 0
    whole = len(server.bodies)
    rows = Run("runs/half.sqlite").results()
    assert len(rows) == 20 and all(row in rows for row in finished)
    server.bodies.clear()
    assert main([*words, "--name", "undisturbed"]) == 0
    assert Run("runs/undisturbed.sqlite").results() == rows
    assert len(server.bodies) == whole, "no stored answer was asked for again"


def asked_until(server: ChatServer, many: int, words: list[str]) -> None:
    """Run brittle, and kill it when the server has answered so many."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(server.bodies) < many and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert process.poll() is None, "it ended before it could be killed"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_a_run_that_is_killed_twice_has_the_rows_of_one_that_is_not(server: ChatServer) -> None:
    """50 cases, 3 answers to each text; no stored answer is asked for again."""
    classifier()
    with Path("d.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *examples(50)])
    words = [sys.executable, "-m", "brittle", "attack", server.spec, "salient-swap", "--quiet"]
    words += ["--data", "d.csv", "--budget", "10", "--repeats", "3", "--measures", "none"]
    subprocess.run([*words, "--name", "whole"], check=True, stdout=subprocess.DEVNULL)
    whole = len(server.bodies)
    server.bodies.clear()
    asked_until(server, whole // 3, [*words, "--name", "killed"])
    asked_until(server, 2 * whole // 3, [*words, "--name", "killed"])
    subprocess.run([*words, "--name", "killed"], check=True, stdout=subprocess.DEVNULL)
    undisturbed, killed = Run("runs/whole.sqlite"), Run("runs/killed.sqlite")
    assert killed.results() == undisturbed.results() and len(killed.results()) == 50
    assert killed.steps() == undisturbed.steps()
    # One request may be under way at each kill, unanswered in the file.
    assert whole <= len(server.bodies) <= whole + 2
    lost = killed.totals["tokens_read"] / undisturbed.totals["tokens_read"]
    assert lost == pytest.approx(1.0, abs=0.02)
