"""A running program that answers line by line, and may hang, end, or say too much."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from typing import IO

Lines = queue.SimpleQueue[bytes | None]

GRACE = 0.5  # seconds a program has to end by itself once its input is closed


class Silent(Exception):
    """The program ended, or did not answer in time."""


class Program:
    """One process, and the threads that keep its pipes flowing: no write or read can block us."""

    def __init__(self, arguments: Sequence[str]) -> None:
        # A session of its own: Ctrl-C reaches us alone, and its children can be ended with it.
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
        todo, lines = Lines(), Lines()
        self.complaints: deque[str] = deque(maxlen=8)
        _thread(_feed, process.stdin, todo)
        _thread(_drain, process.stdout, lines)
        _thread(_listen, process.stderr, self.complaints)
        self._process, self._todo, self._lines = process, todo, lines
        self._end = weakref.finalize(self, _ended, process, todo)

    def ask(self, line: bytes, timeout: float) -> str:
        """Send one line and wait for the line that answers it; one that hangs is ended."""
        self._todo.put(line)
        try:
            answer = self._lines.get(timeout=timeout)
        except queue.Empty:
            _killed(self._process)
            raise Silent(f"it did not answer within {timeout:g} s") from None
        if answer is None:
            raise Silent(f"it ended with exit code {self._process.wait()}")
        return answer.decode("utf-8", "replace").strip()

    def says_more(self, timeout: float = 0.0) -> str | None:
        """Give a line nobody asked for, if there is one."""
        try:
            line = self._lines.get(timeout=timeout) if timeout else self._lines.get_nowait()
        except queue.Empty:
            return None
        if line is None:
            self._lines.put(None)  # it has ended; who asks next is to hear of it
            return None
        return line.decode("utf-8", "replace").strip()

    def end(self) -> None:
        """Close its input, and end it if it does not go by itself."""
        self._end()


def _thread(work: object, pipe: IO[bytes] | None, other: object) -> None:
    threading.Thread(target=work, args=(pipe, other), daemon=True, name="brittle-command").start()  # type: ignore[arg-type]


def _feed(pipe: IO[bytes], lines: Lines) -> None:
    try:
        while (line := lines.get()) is not None:
            pipe.write(line)
            pipe.flush()
    except OSError:
        pass  # the program is gone; whoever waits for its answer hears of it
    try:
        pipe.close()
    except OSError:
        return


def _drain(pipe: IO[bytes], lines: Lines) -> None:
    with pipe:
        for line in pipe:
            lines.put(line)
    lines.put(None)


def _listen(pipe: IO[bytes], complaints: deque[str]) -> None:
    with pipe:
        for line in pipe:
            complaints.append(line.decode("utf-8", "replace").strip()[:200])


def _ended(process: subprocess.Popen[bytes], todo: Lines) -> None:
    todo.put(None)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        _killed(process)


def _killed(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError, AttributeError):
        process.kill()
    process.wait()
