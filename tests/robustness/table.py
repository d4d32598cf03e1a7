"""The table of bad input: each row is an input, its documented outcome, and a check of it.

The rows of docs/how-to/resume.md are these rows, word for word.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import brittle
from brittle.cli import main
from brittle.results import Result
from brittle.runs.run import Run
from brittle.testing import FakeTarget
from forking import brittle_words

Check = Callable[[Path], None]
WEIGHTS = {"good": 2.0, "great": 2.0, "wonderful": 1.0, "bad": -2.0, "dull": -1.0}


@dataclass(frozen=True)
class Row:
    """One kind of bad input, its documented outcome, and the check."""

    what: str
    outcome: str
    check: Check
    slow: bool = False


TABLE: list[Row] = []


def row(what: str, outcome: str, *, slow: bool = False) -> Callable[[Check], Check]:
    """Add a check to the table."""

    def add(check: Check) -> Check:
        TABLE.append(Row(what, outcome, check, slow))
        return check

    return add


def attacked(folder: Path, *examples: Any, target: Any = None, **settings: Any) -> list[Result]:
    """Attack examples with pwws in this process; return the rows."""
    target = FakeTarget(WEIGHTS) if target is None else target
    settings = {"candidates": "paper"} | settings
    return brittle.attack(target, list(examples), "pwws", folder=folder, **settings).results()


def contents(folder: Path, name: str) -> tuple[list[Any], list[Any]]:
    """Return all results and all steps of a run, as comparable rows."""
    run = Run(folder / f"{name}.sqlite")
    return [astuple(result) for result in run.results()], [astuple(s) for s in run.steps()]


# The command line as a process, with real signals, limits and exit codes.

MODEL = """
import ctypes, hashlib, math, os, time

HUNG = []
DEATHS = {
    "crash": lambda: ctypes.string_at(0),
    "kill": lambda: os.kill(os.getpid(), 9),
    "exit": lambda: os._exit(0),
}

def weight(word):
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") / 2**31 - 1

def classify(texts):
    time.sleep(float(os.environ.get("SECONDS_A_CALL", "0")))
    if not HUNG and any(os.environ.get("HANG_ON", "-") in text.split() for text in texts):
        HUNG.append(True)
        open("hanging", "w").close()
        while os.path.exists("hanging"):
            time.sleep(0.05)
    if any(os.environ.get("DIE_ON", "-") in text.split() for text in texts):
        DEATHS[os.environ["DIE_BY"]]()
    positive = [1 / (1 + math.exp(-sum(map(weight, text.lower().split())))) for text in texts]
    return [[1 - p, p] for p in positive]

classify.labels = ["negative", "positive"]
"""

WORDS = (
    *("good", "bad", "film", "story", "plot", "actor", "great", "dull"),
    *("love", "war", "bright", "dark", "happy", "sad", "idea", "quick"),
)


def write_workspace(folder: Path, count: int) -> Path:
    """Write a model and `count` unlabelled texts to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.py").write_text(MODEL)
    texts = [" ".join(WORDS[(i * k) % 16] for k in range(1, 4)) + f" {i}" for i in range(count)]
    (folder / "texts.csv").write_text("\n".join(["text", *texts]) + "\n")
    return folder


ATTACK = (
    *("attack", "python:model:classify", "pwws", "--data", "texts.csv"),
    *("--candidates", "paper", "--name", "run"),
)


def argv(*words: str) -> list[str]:
    """Return a command line that works without the script on the path."""
    return [sys.executable, "-m", "brittle.cli", *words]


def command(
    folder: Path,
    *words: str,
    env: dict[str, str] | None = None,
    fresh: bool = False,
    **settings: Any,
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder and wait for it, at most five minutes.

    It is `fresh` where it needs an interpreter of its own, with its limits, streams or variables,
    and in quick tests, for which the start of a server would be the larger part.
    """
    return subprocess.run(
        argv(*words) if fresh else [*brittle_words(), *words],
        cwd=folder,
        env=os.environ | (env or {}),
        capture_output=True,
        text=True,
        timeout=300,
        **settings,
    )


# A process begins with the peak of the one that starts it, so a small one stands in between.
MEASURED = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=sys.stderr)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss)
os._exit(os.waitstatus_to_exitcode(status) & 255)
"""


@dataclass(frozen=True)
class Ended:
    """How a command in this process ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def command_here(folder: Path, *words: str) -> Ended:
    """Run a command in a folder, but in this process: a start of Python costs more than most do."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = main(list(words))
    return Ended(code, out.getvalue(), err.getvalue())


def peak_mb(words: Sequence[str], folder: Path) -> float:
    """Run a command line that must succeed; return its peak memory."""
    argv = [sys.executable, "-c", MEASURED, *words]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024) / 2**20


def equal_to_fresh(workspace: Path, fresh: Path, count: int) -> None:
    """Check that a stopped run, when resumed, has the rows of an undisturbed one."""
    assert command(workspace, *ATTACK, "--quiet").returncode == 0
    assert command(write_workspace(fresh, count), *ATTACK, "--quiet").returncode == 0
    assert contents(workspace / "runs", "run") == contents(fresh / "runs", "run")


@contextmanager
def started(
    folder: Path, *words: str, env: dict[str, str] | None = None, fresh: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """Start a command in a folder; kill it at the end if it still runs.

    It is `fresh` where it must be dead as soon as it is killed.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = argv(*words) if fresh else [*brittle_words(), *words]
    process = subprocess.Popen(
        command, cwd=folder, env=os.environ | (env or {}), text=True, **pipes
    )
    with process:
        try:
            yield process
        finally:
            process.kill()
