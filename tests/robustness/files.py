"""Files and processes: torn and damaged files, lost logs, targets that fork, move and print."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import brittle
from brittle.cli import main
from brittle.errors import UsageError
from brittle.runs import store
from brittle.runs.sqlite_files import log_path
from brittle.testing import FakeTarget
from robustness.table import (
    ATTACK,
    WEIGHTS,
    argv,
    attacked,
    command,
    command_here,
    contents,
    row,
    started,
    write_workspace,
)

FILMS = [(f"a good film of {i} great scenes", "positive") for i in range(6)]
FORKS = """
import os, time
import model

def classify(texts):
    if not os.path.exists("forked") and os.path.exists("runs/run.lock"):
        open("forked", "w").close()
        child = os.fork()
        if child == 0:
            while os.path.exists("forked"):
                time.sleep(0.05)
            os._exit(0)
    return model.classify(texts)

classify.labels = model.classify.labels
"""
MOVES = """
import os
import model

os.makedirs("elsewhere/yet", exist_ok=True)
os.chdir("elsewhere")

def classify(texts):
    os.chdir(os.path.abspath("yet") if os.path.isdir("yet") else "..")
    return model.classify(texts)

classify.labels = model.classify.labels
"""
PRINTS = """
import os
import model

print("loading")

def classify(texts):
    print("scoring", len(texts))
    os.system("echo a child")
    os.write(1, b"bytes")
    return model.classify(texts)

classify.labels = model.classify.labels
"""


def run_module(folder: Path, source: str, *words: str) -> tuple[Path, str]:
    """Attack `classify` of a module in a workspace; return the folder, and stdout."""
    workspace = write_workspace(folder, 6)
    (workspace / "own.py").write_text(source)
    first, _, *rest = ATTACK
    ended = command(workspace, first, "python:own:classify", *rest, *words)
    assert ended.returncode == 0, ended.stderr
    return workspace, ended.stdout


@row(
    "a target that forks",
    "its children do not keep the run locked: the same command works",
    slow=True,
)
def forks(folder: Path) -> None:
    workspace = write_workspace(folder, 6)
    (workspace / "own.py").write_text(FORKS)
    first, _, *rest = ATTACK
    words = argv(first, "python:own:classify", *rest, "--quiet", "--new")
    try:
        for _ in range(2):
            # Not through a pipe, which the child would keep open.
            with (folder / "errors").open("w") as errors:
                ended = subprocess.run(words, cwd=workspace, stdout=errors, stderr=errors)
            assert ended.returncode == 0, (folder / "errors").read_text()
            assert (workspace / "forked").exists(), "it has forked, and the child lives"
    finally:
        (workspace / "forked").unlink()


@row(
    "a target that changes the working folder",
    "run and report are where they were asked for",
    slow=True,
)
def moves(folder: Path) -> None:
    workspace, out = run_module(folder, MOVES, "--report", "out.html")
    assert (workspace / "runs" / "run.sqlite").exists() and (workspace / "out.html").exists()
    assert "Run: runs/run.sqlite" in out
    assert [*(workspace / "elsewhere").rglob("*.*")] == []


@row("a target that prints", "what it prints is on stderr, and `--json` stays JSON", slow=True)
def prints(folder: Path) -> None:
    _, out = run_module(folder, PRINTS, "--json")
    assert json.loads(out)["run"] == "run"


@row("stdout that is closed, or a locale without UTF-8", "the command works", slow=True)
def odd_streams(folder: Path) -> None:
    attacked(folder / "runs", ("a good film “😀”", "positive"), name="run")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
    listed = command(folder, "show", "run", "--json", env=ascii_only, fresh=True)
    assert listed.returncode == 0 and json.loads(listed.stdout)["run"] == "run"
    closed = command(folder, "show", "run", "--json", fresh=True, preexec_fn=lambda: os.close(1))
    assert (closed.returncode, closed.stderr) == (0, "")
    both = command(folder, "show", "nobody", fresh=True, preexec_fn=lambda: os.closerange(0, 3))
    assert both.returncode == 2


@row("one damaged run among others", "`brittle list runs` names and leaves out this one alone")
def damaged_run(folder: Path) -> None:
    damages = {
        "json": "UPDATE meta SET value = '{\"target\": '",
        "deep": f"UPDATE meta SET value = '{'[' * 100_000}'",
        "list": "UPDATE meta SET value = '[1, 2]'",
        "empty": "UPDATE meta SET value = '{}'",
        "table": "DROP TABLE results",
        "settings": "UPDATE meta SET value = json_remove(value, '$.settings')",
        "texts": "UPDATE examples SET fields = 'x'",
    }
    attacked(folder, *FILMS, name="whole")
    for name, damage in damages.items():
        shutil.copy(folder / "whole.sqlite", folder / f"{name}.sqlite")
        with sqlite3.connect(folder / f"{name}.sqlite") as db:
            db.execute(damage)
        db.close()
    pages = (folder / "whole.sqlite").read_bytes()
    (folder / "pages.sqlite").write_bytes(pages[:4096] + b"\xff" * 4096 + pages[8192:])
    (folder / "cut.sqlite").write_bytes(pages[:5000])
    listed = command_here(folder, "list", "runs", "--runs", ".", "--json")
    names = {entry["run"] for entry in json.loads(listed.stdout)}
    assert listed.returncode == 0 and "whole" in names and not names & {"json", "deep", "list"}
    assert listed.stderr.count("Left out: ") >= 4 and "Traceback" not in listed.stderr
    for name in ("json", "settings", "table", "pages"):
        with pytest.raises(UsageError, match=r"damaged|not a readable run file"):
            attacked(folder, *FILMS, name=name)
    for name in (*damages.keys() - {"settings"}, "pages", "cut"):
        for words in (("show", name), ("report", name), ("export", name, "out.jsonl")):
            assert main([*words, "--runs", str(folder), "--json"]) == 2, words


@row(
    "a study with values of other types, or parts that do not fit together",
    "exit 2, with the file, the field and what belongs there",
)
def malformed_study(folder: Path) -> None:
    path = make_grid(folder, "fair")
    study = json.loads(path.read_text("utf-8"))
    for name, value, expected in (
        ("limit", "many", "limit is 'many'; expected a whole number"),
        ("name", "../../etc/passwd", "expected a file name without a folder"),
        ("attacks", ["pwws"], "expected entries for pwws"),
    ):
        facts = (
            {"facts": study["facts"] | {name: value}} if name in study["facts"] else {name: value}
        )
        path.write_text(json.dumps(study | facts), "utf-8")
        shown = command_here(folder, "show", "fair", "--runs", ".")
        assert shown.returncode == 2 and "fair.study.json" in shown.stderr
        assert expected in " ".join(shown.stderr.split())


@row(
    "one malformed study among others",
    "`brittle list studies` names and leaves out this one alone",
)
def one_malformed_study(folder: Path) -> None:
    make_grid(folder, "fair")
    make_grid(folder, "torn").write_text('{"kind": "grid", "format": 1, "cases": 5}')
    (folder / "link.study.json").symlink_to(folder / "nowhere")
    listed = command_here(folder, "list", "studies", "--runs", ".", "--json")
    assert listed.returncode == 0 and listed.stderr.count("Left out: ") == 1
    assert "torn.study.json is not a grid" in " ".join(listed.stderr.split())
    assert [entry["study"] for entry in json.loads(listed.stdout)] == ["fair"]


@row(
    "somebody else's folder with the name of a study",
    "left as it is by `brittle runs delete` and `brittle runs rename`, which say so",
)
def folder_of_others(folder: Path) -> None:
    path = make_grid(folder, "fair")
    shutil.rmtree(folder / "fair")
    (folder / "fair").mkdir()
    (folder / "fair" / "thesis.tex").write_text("years of work")
    path = path.rename(folder / "just.study.json")
    (folder / "fair").rename(folder / "just")
    for words in (("rename", "just", "other"), ("delete", "just.study.json", "--yes")):
        path.write_text("{}")
        done = command_here(folder, *words, "--runs", ".")
        assert done.returncode == 0 and "just stays as it is" in done.stderr
        assert (folder / "just" / "thesis.tex").read_text() == "years of work"


def make_grid(folder: Path, name: str) -> Path:
    targets = [FakeTarget(WEIGHTS, name="a"), FakeTarget(WEIGHTS, name="b")]
    brittle.grid(targets, FILMS, "key", limit=2, name=name, folder=folder)
    return folder / f"{name}.study.json"


@row(
    "a kill while a report or an export is written",
    "the file before it, or the new one; never a part of one",
    slow=True,
)
def killed_while_writing(folder: Path) -> None:
    films = [(f"a good film {i} " * 20, "positive") for i in range(150)]
    attacked(folder / "runs", *films, name="run", budget=3)
    for name, words in {
        "report.html": ("report", "run", "--out", "report.html"),
        "rows.csv": ("export", "run", "rows.csv"),
        "rows.jsonl": ("export", "run", "rows.jsonl"),
    }.items():
        (folder / name).write_text("before")
        for _ in range(3):
            kill_while_writing(folder, name, words)


def kill_while_writing(folder: Path, name: str, words: tuple[str, ...]) -> None:
    """Kill a command as soon as it writes a file, and check what is there."""
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    with started(folder, *words, fresh=True) as process:
        while process.poll() is None:
            now = {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.exists()}
            if now != before:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.0005)
    content = (folder / name).read_text("utf-8")
    if content != "before":
        done = command(folder, *words)
        assert done.returncode == 0 and (folder / name).read_text("utf-8") == content
        (folder / name).write_text("before")


@row(
    "a run file that was copied without its `-wal` after a kill",
    "it has all but the last seconds, and is resumed with a warning",
)
def copied_alone(folder: Path) -> None:
    attacked(folder, *FILMS, name="run")
    expected = contents(folder, "run")
    (folder / "copy").mkdir()
    with store.Store.resume(folder / "run.sqlite") as killed, killed._db as db:
        for table in ("steps", "results"):
            db.execute(f"DELETE FROM {table} WHERE case_id > '8'")  # not stored yet at the kill
        db.commit()
        db.execute("PRAGMA wal_checkpoint")
        shutil.copy(folder / "run.sqlite", folder / "copy")
    had = len(contents(folder / "copy", "run")[0])
    assert 0 < had < len(FILMS)
    log_path(folder / "copy" / "run.sqlite").unlink(missing_ok=True)
    with warnings_logged() as messages:
        attacked(folder / "copy", *FILMS, name="run")
    assert any("run.sqlite-wal is not beside it" in message for message in messages)
    assert contents(folder / "copy", "run") == expected


@contextmanager
def warnings_logged() -> Iterator[list[str]]:
    """Collect what the store logs."""
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    store.log.addHandler(handler)
    yield messages
    store.log.removeHandler(handler)


@row(
    "a `-wal` that was left behind without its run, or an empty run without its `-wal`",
    "exit 2: nothing is started over, except with `--new`",
)
def left_behind(folder: Path) -> None:
    opened = store.Store.create(folder / "run.sqlite", {"target": "x"})
    opened.keep_keywords({"a": "b"})
    log = log_path(folder / "run.sqlite").read_bytes()
    opened.close()
    for empty in (None, b""):
        (folder / "run.sqlite").unlink(missing_ok=True)
        if empty is not None:
            (folder / "run.sqlite").write_bytes(empty)
        log_path(folder / "run.sqlite").write_bytes(log)
        with pytest.raises(UsageError, match=r"run\.sqlite-wal has a part of a run.*--new"):
            attacked(folder, *FILMS, name="run")
        assert log_path(folder / "run.sqlite").read_bytes() == log
    assert len(attacked(folder, *FILMS, name="run", new=True)) == len(FILMS)
    assert brittle.open_run("run", folder).complete
    with sqlite3.connect(folder / "bare.sqlite") as db:
        db.execute("PRAGMA journal_mode=WAL")
    db.close()
    with pytest.raises(UsageError, match=r"bare\.sqlite-wal, which is not there.*--new"):
        attacked(folder, *FILMS, name="bare")
