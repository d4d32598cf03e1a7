"""The environment of a run: disks, folders, foreign files, signals, terminals, other processes."""

from __future__ import annotations

import json
import resource
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.errors import RunStopped, UsageError
from brittle.runs.run import list_runs
from brittle.testing import FakeTarget
from robustness.table import (
    ATTACK,
    WEIGHTS,
    argv,
    attacked,
    command,
    contents,
    equal_to_fresh,
    row,
    started,
    write_workspace,
)

FILMS = [
    (f"a good film of {i} great scenes{' and a wonderful story' * (i % 2)}", "positive")
    for i in range(12)
]
SLOW = {"SECONDS_A_CALL": "0.05"}


def wait_until(condition: Any, process: subprocess.Popen[str]) -> None:
    """Wait until a condition holds, as long as the process lives."""
    for _ in range(1000):
        if condition():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def rows_stored(folder: Path) -> int:
    try:
        return len(brittle.open_run("run", folder / "runs").results())
    except brittle.BrittleError:
        return 0


@row("a full disk", "exit 3; with room again the same command resumes, nothing is lost", slow=True)
def full_disk(folder: Path) -> None:
    workspace = write_workspace(folder / "full", 150)

    def limit_file_size() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (180_000, 180_000))

    ended = command(workspace, *ATTACK, fresh=True, preexec_fn=limit_file_size)
    assert ended.returncode == 3, ended.stderr
    assert "cannot be written" in ended.stderr and "Resume with: brittle attack" in ended.stderr
    assert 0 < rows_stored(workspace) < 150
    before, _ = contents(workspace / "runs", "run")
    equal_to_fresh(workspace, folder / "fresh", 150)
    after, _ = contents(workspace / "runs", "run")
    assert [r for r in after if r in before] == before


@row("two processes on one run", "the second: exit 2, “Another process is writing”", slow=True)
def two_at_once(folder: Path) -> None:
    workspace = write_workspace(folder / "two", 40)
    with started(workspace, *ATTACK, "--quiet", env={"HANG_ON": "30"}) as first:
        wait_until((workspace / "hanging").exists, first)
        second = command(workspace, *ATTACK, "--quiet")
        assert second.returncode == 2 and "Another process is writing" in second.stderr
        afresh = command(workspace, *ATTACK, "--quiet", "--new")
        assert afresh.returncode == 2 and "Another process is writing" in afresh.stderr
        (workspace / "hanging").unlink()
        assert first.wait(300) == 0
    assert rows_stored(workspace) == 40


@row("Ctrl-C", "the batch is finished, exit 130 with the command that resumes", slow=True)
def interrupted(folder: Path) -> None:
    workspace = write_workspace(folder / "stopped", 80)
    with started(workspace, *ATTACK, env=SLOW) as process:
        wait_until(lambda: rows_stored(workspace) > 0, process)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130 and "Stopping after the batch" in stderr
    assert "Resume with: brittle attack python:model:classify pwws --data texts.csv" in stderr
    assert 0 < rows_stored(workspace) < 80
    equal_to_fresh(workspace, folder / "fresh", 80)


@row("Ctrl-C twice", "exit 130 at once; what was finished is kept", slow=True)
def interrupted_twice(folder: Path) -> None:
    workspace = write_workspace(folder, 160)
    with started(workspace, *ATTACK, env={"HANG_ON": "150"}) as process:
        wait_until((workspace / "hanging").exists, process)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None, "the batch under way hangs: one Ctrl-C cannot end it"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130 and 0 < rows_stored(workspace) < 160


@row("a reader that closes the pipe, such as `head -1`", "exit 0, silently", slow=True)
def broken_pipe(folder: Path) -> None:
    attacked(folder / "runs", *FILMS, name="run")
    with subprocess.Popen(
        argv("show", "run"), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


@row("a runs folder that cannot be written", "exit 2, naming `--runs`")
def no_folder(folder: Path) -> None:
    (folder / "file").write_text("not a folder")
    with pytest.raises(UsageError, match=r"cannot be written to .*file.*--runs"):
        attacked(folder / "file" / "runs", *FILMS)


@row("a run in a folder that is read-only", "can be shown, reported, exported and compared")
def read_only(folder: Path) -> None:
    attacked(folder, *FILMS, name="run")
    # SQLite needs no second file beside a run at rest. (chmod would not stop a user who may do
    # everything, as in many containers.)
    assert {path.name for path in folder.iterdir()} == {"run.sqlite", "run.lock"}
    assert len(brittle.open_run("run", folder).results()) == len(FILMS)
    assert {path.name for path in folder.iterdir()} == {"run.sqlite", "run.lock"}


@row("a file with the run's name that is not a run", "exit 2; the file is left alone")
def not_a_run(folder: Path) -> None:
    with sqlite3.connect(folder / "other.sqlite") as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    (folder / "text.sqlite").write_text("some notes of mine, long enough to be looked at " * 9)
    for name, message in (("other", "not a run of brittle"), ("text", "not a readable run file")):
        before = (folder / f"{name}.sqlite").read_bytes()
        with pytest.raises(UsageError, match=message):
            attacked(folder, *FILMS, name=name)
        assert (folder / f"{name}.sqlite").read_bytes() == before


@row("`--name` of a run with other settings", "exit 2, with what differs; the run is left alone")
def other_settings(folder: Path) -> None:
    attacked(folder, *FILMS, name="run")
    before = contents(folder, "run")
    for message, changed in {
        "settings was .* now .*0.1": {"share": 0.1},
        "seed was 0, now 1": {"seed": 1},
        "goal was 'untargeted'": {"toward": "negative"},
        "fingerprint was": {"target": FakeTarget({"good": 1.0})},
    }.items():
        with pytest.raises(UsageError, match=message):
            attacked(folder, *FILMS, name="run", **changed)
    with pytest.raises(UsageError, match="content was"):
        attacked(folder, *FILMS[1:], name="run")
    assert contents(folder, "run") == before


@row("a smaller budget than the run has", "exit 2: a run can only be extended")
def smaller_budget(folder: Path) -> None:
    attacked(folder, *FILMS, name="run", budget=50, limit=8)
    before = contents(folder, "run")
    for limit in (8, 7):
        with pytest.raises(UsageError, match="can only grow"):
            attacked(folder, *FILMS, name="run", budget=40, limit=limit)
    assert contents(folder, "run") == before


@row("a smaller limit than the run has", "that part of the run; exit 2 if it is not finished")
def smaller_limit(folder: Path) -> None:
    whole = attacked(folder, *FILMS, name="run", limit=8)
    before = contents(folder, "run")
    assert attacked(folder, *FILMS, name="run", limit=5) == whole[:5]
    with sqlite3.connect(folder / "run.sqlite") as db:
        for table in ("results", "steps"):
            db.execute(f"DELETE FROM {table} WHERE case_id = ?", (whole[4].case,))
    assert attacked(folder, *FILMS, name="run", limit=4) == whole[:4]
    with pytest.raises(UsageError, match="it has unfinished cases"):
        attacked(folder, *FILMS, name="run", limit=5)
    assert attacked(folder, *FILMS, name="run", limit=8) == whole
    assert contents(folder, "run") == before


@row("a larger budget or limit, or none", "the rows of a run that had it from the start")
def larger(folder: Path) -> None:
    for number, (budget, limit) in enumerate([(20, 8), (20, None), (None, None)]):
        attacked(folder, *FILMS, name="run", budget=budget, limit=limit)
        attacked(folder, *FILMS, name=f"fresh-{number}", budget=budget, limit=limit)
        assert contents(folder, "run") == contents(folder, f"fresh-{number}")
        seen = {result.status for result in brittle.open_run("run", folder).results()}
        assert seen == ({"broken", "out of budget"} if budget else {"broken"})


@row("an unknown run, attack, data set or file", "exit 2, with what was probably meant")
def not_there(folder: Path) -> None:
    attacked(folder, *FILMS, name="films")
    with pytest.raises(UsageError, match="Did you mean 'films'"):
        brittle.open_run("flims", folder)
    assert main(["show", "none", "--runs", str(folder), "--quiet"]) == 2
    with pytest.raises(UsageError, match="Did you mean 'pwws'"):
        brittle.attack(FakeTarget(WEIGHTS), FILMS, "pwsw", folder=folder)
    with pytest.raises(UsageError, match="Did you mean 'mr'"):
        brittle.attack(FakeTarget(WEIGHTS), "mrr", folder=folder)


@row("a run that was killed at its start", "started over: there was nothing in it")
def killed_at_birth(folder: Path) -> None:
    (folder / "run.sqlite").touch()
    (folder / "run.sqlite-wal").touch()
    assert len(attacked(folder, *FILMS, name="run")) == len(FILMS)


@row("another file among the runs", "left out of `brittle list runs`")
def among_the_runs(folder: Path) -> None:
    attacked(folder, *FILMS, name="films")
    (folder / "notes.sqlite").write_text("some notes of mine, long enough to be looked at " * 9)
    assert [path.stem for path in list_runs(folder)] == ["films"]
    assert brittle.open_run("films", folder).complete


@row("a report or export that cannot be written", "exit 2, with the path")
def nowhere_to_write(folder: Path) -> None:
    attacked(folder, *FILMS, name="films")
    (folder / "file").write_text("not a folder")
    out = str(folder / "file" / "out.csv")
    assert main(["export", "films", out, "--runs", str(folder)]) == 2
    assert main(["report", "films", "--out", out, "--runs", str(folder)]) == 2


@row(
    "a terminal without Unicode",
    "question marks for what it cannot show; JSON is escaped",
    slow=True,
)
def plain_terminal(folder: Path) -> None:
    attacked(folder / "runs", ("a good film “😀”", "positive"), name="run")
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    shown = command(folder, "show", "run", env=ascii_only, fresh=True)
    assert shown.returncode == 0 and "a [good?full] film" in shown.stdout, shown.stderr
    tried = command(folder, "try", "python:none", "x", "--json", env=ascii_only, fresh=True)
    assert tried.returncode == 2 and "Traceback" not in tried.stderr
    listed = command(folder, "show", "run", "--json", env=ascii_only, fresh=True)
    assert json.loads(listed.stdout)["run"] == "run"


@row("a run stopped before its first case ended", "can be shown, reported, exported and compared")
def nothing_finished(folder: Path) -> None:
    with pytest.raises(RunStopped):
        attacked(folder, *FILMS, name="begun", max_sent=20)
    run = brittle.open_run("begun", folder)
    assert run.results() == [] and not run.complete
    assert "Incomplete: 0 of 12 cases" in str(run)
    out = str(folder / "out")
    for words in (
        ("show", "begun"),
        ("report", "begun", "--out", f"{out}.html"),
        ("export", "begun", f"{out}.csv"),
        ("export", "begun", f"{out}.jsonl"),
        ("compare", "begun", "begun"),
        ("list", "runs"),
    ):
        assert main([*words, "--runs", str(folder)]) == 0
        assert main([*words, "--runs", str(folder), "--json"]) == 0
