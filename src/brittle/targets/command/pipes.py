"""A program and its pipes: its start, threads that serve them, what it wrote to stderr, its end."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import IO

from brittle.errors import UsageError
from brittle.redaction import redact
from brittle.targets.command.arguments import fill_arguments

GRACE_SECONDS = 0.5  # for a program to end by itself, or its pipes to be read
MAX_STDERR_LINES, MAX_STDERR_CHARACTERS = 8, 200  # what an error message quotes
MAX_STDERR_BYTES = 1 << 16  # of a line; a longer one counts as several


def start_process(
    arguments: Sequence[str],
    who: str,
    stdin: int | IO[bytes] = subprocess.PIPE,
    **environment: str,
) -> subprocess.Popen[bytes]:
    """Start a program with the values of environment variables in its arguments."""
    try:
        # In its own session, Ctrl-C does not reach it, and its children can be ended with it.
        return subprocess.Popen(
            fill_arguments(arguments),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | environment,
            start_new_session=True,
        )
    except OSError as error:
        raise UsageError(f"{who} cannot be started: {error}.") from error


def start_thread(work: Callable[..., None], *arguments: object) -> threading.Thread:
    """Start a thread that serves a pipe; it cannot keep the program from ending."""
    thread = threading.Thread(target=work, args=arguments, daemon=True, name="brittle-command")
    thread.start()
    return thread


def read_stderr(pipe: IO[bytes], lines: deque[str]) -> None:
    with pipe:
        while line := pipe.readline(MAX_STDERR_BYTES):
            text = redact(line.decode("utf-8", "replace").strip())
            lines.append(text[:MAX_STDERR_CHARACTERS])


def quote_stderr(lines: Iterable[str]) -> str:
    """Quote the last lines that a program wrote to stderr, for the end of a message."""
    lines = list(lines)
    return f"; it wrote to stderr: {' | '.join(lines)!r}" if lines else ""


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError, AttributeError):
        process.kill()
    process.wait()
