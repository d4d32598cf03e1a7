"""One part of the torture: what was tried, and what did not hold."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FINE = (0, 1, 2, 3)
"""The exit codes that a command may have, whatever it is given; the messages are ours then."""


@dataclass
class Part:
    """How many trials there were, how many were asked for, and which failed, with the reason."""

    name: str
    asked: int
    tried: int = 0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    skipped: str = ""

    @property
    def holds(self) -> bool:
        return not self.failures and (bool(self.skipped) or self.tried >= self.asked)

    def check(self, what: str, problem: str | None) -> None:
        """Count a trial; `problem` is what was wrong, None if it held."""
        self.tried += 1
        if problem is not None:
            self.failures.append(f"{what}: {problem}")


@contextlib.contextmanager
def timed(part: Part) -> Iterator[Part]:
    start = time.perf_counter()
    yield part
    part.seconds = round(time.perf_counter() - start, 1)


class _TooLong(BaseException):
    """A command did not end in its time."""


@dataclass(frozen=True)
class Ended:
    """How a command line ended: its exit code and what it printed; or what is wrong at once."""

    code: int
    out: str
    err: str
    problem: str | None = None


def ended(words: Sequence[str], folder: Path, seconds: int = 60) -> Ended:
    """Run a command line in this process, in a folder, and return how it ended."""
    from brittle.cli import main

    def interrupt(number: int, frame: Any) -> None:
        raise _TooLong

    out, err = io.StringIO(), io.StringIO()
    before, here = signal.signal(signal.SIGALRM, interrupt), Path.cwd()
    os.chdir(folder)
    signal.alarm(seconds)
    problem: str | None = None
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
    except SystemExit as left:
        code = left.code or 0
    except _TooLong:
        problem = f"did not end within {seconds} s"
    except BaseException as error:
        problem = f"raised {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        os.chdir(here)
    return Ended(code, out.getvalue(), err.getvalue(), problem)


def problem_of(words: Sequence[str], folder: Path, seconds: int = 60) -> str | None:
    """Run a command line in this process; return what is wrong with how it ended, or None."""
    end = ended(words, folder, seconds)
    return end.problem or verdict(end.code, end.err)


# A process begins with the peak of the one that starts it, so a small one stands in between.
_MEASURED = """
import os, signal, subprocess, sys
process = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
signal.signal(signal.SIGALRM, lambda *_: process.kill())
signal.alarm(int(sys.argv[1]))
_, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


def measured(
    words: Sequence[str], folder: Path, seconds: int, programs: Sequence[Path] = ()
) -> tuple[int | None, str, float]:
    """Run a command line in a process of its own; return exit code, stderr and peak memory in MB.

    The exit code is None if it had to be killed. `programs` are folders in front of the path.
    """
    argv = [sys.executable, "-c", _MEASURED, str(seconds), sys.executable, "-m", "brittle.cli"]
    path = os.pathsep.join([*map(str, programs), os.environ.get("PATH", "")])
    env = os.environ | {"PATH": path}
    done = subprocess.run([*argv, *words], cwd=folder, env=env, capture_output=True, text=True)
    code, peak = map(int, done.stdout.split())
    unit = 1 if sys.platform == "darwin" else 1024
    return None if code == -signal.SIGKILL else code, done.stderr, peak * unit / 2**20


def verdict(code: int, stderr: str) -> str | None:
    """Return what is wrong with an exit code and messages: a traceback, or a code not ours."""
    if "Traceback (most recent call last)" in stderr:
        return stderr.strip().splitlines()[-2][:200]
    return None if code in FINE else f"exit code {code}: {stderr[-200:]}"
