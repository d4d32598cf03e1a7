"""A running program that answers line by line; it may hang, end, or print too much."""

from __future__ import annotations

import queue
import subprocess
import weakref
from collections import deque
from collections.abc import Sequence
from typing import IO

from brittle.targets.command.pipes import (
    GRACE_SECONDS,
    MAX_STDERR_LINES,
    kill,
    read_stderr,
    start_process,
    start_thread,
)

Lines = queue.SimpleQueue[bytes | None]
"""Lines of a pipe; None is its end."""

MAX_LINE_BYTES = 1 << 24  # an answer without an end is cut here, and the program started again
MAX_WAITING_LINES = 1000  # that nobody asked for; a program that prints more is cut off


class NoAnswer(Exception):
    """The program ended, or did not answer in time."""


class Program:
    """One process, and the threads that serve its pipes, so that no write or read blocks us."""

    def __init__(self, arguments: Sequence[str], who: str) -> None:
        process = start_process(arguments, who, PYTHONUNBUFFERED="1")
        inputs, outputs = Lines(), Lines()
        self.stderr_lines: deque[str] = deque(maxlen=MAX_STDERR_LINES)
        start_thread(_write_inputs, process.stdin, inputs)
        start_thread(_read_outputs, process.stdout, outputs)
        self._stderr_reader = start_thread(read_stderr, process.stderr, self.stderr_lines)
        self._process, self._inputs, self._outputs = process, inputs, outputs
        self._end = weakref.finalize(self, _end, process, inputs)

    def ask(self, line: bytes, timeout: float) -> str:
        """Send one line and wait for the answer; a program that does not answer is killed."""
        self._inputs.put(line)
        try:
            answer = self._outputs.get(timeout=timeout)
        except queue.Empty:
            kill(self._process)
            raise NoAnswer(f"it did not answer within {timeout:g} s") from None
        if answer is None:
            code = self._process.wait()
            self._stderr_reader.join(GRACE_SECONDS)  # what it said last is quoted in the message
            raise NoAnswer(f"it ended with exit code {code}")
        return answer.decode("utf-8", "replace").strip()

    def read_extra_line(self, timeout: float = 0.0) -> str | None:
        """Return a line that answers no question, if there is one."""
        try:
            line = self._outputs.get(timeout=timeout) if timeout else self._outputs.get_nowait()
        except queue.Empty:
            return None
        if line is None:
            self._outputs.put(None)  # the program has ended; the next `ask` must see it too
            return None
        return line.decode("utf-8", "replace").strip()

    def end(self) -> None:
        """Close its input, and kill it if it does not end by itself."""
        self._end()


def _write_inputs(pipe: IO[bytes], lines: Lines) -> None:
    try:
        while (line := lines.get()) is not None:
            pipe.write(line)
            pipe.flush()
    except OSError:
        pass  # the program has ended; whoever waits for its answer sees that
    try:
        pipe.close()
    except OSError:
        return


def _read_outputs(pipe: IO[bytes], lines: Lines) -> None:
    with pipe:
        while line := pipe.readline(MAX_LINE_BYTES):
            lines.put(line)
            if len(line) == MAX_LINE_BYTES or lines.qsize() > MAX_WAITING_LINES:
                break
    lines.put(None)


def _end(process: subprocess.Popen[bytes], inputs: Lines) -> None:
    inputs.put(None)
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        kill(process)
