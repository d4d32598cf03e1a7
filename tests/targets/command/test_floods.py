"""Programs that write without an end: little of it is kept."""

from __future__ import annotations

import io
from collections import deque

from brittle.targets.command.program import (
    MAX_STDERR_CHARACTERS,
    MAX_STDERR_LINES,
    MAX_WAITING_LINES,
    Lines,
    _read_outputs,
    read_stderr,
)


def test_lines_that_nobody_asked_for_are_not_kept_without_end() -> None:
    lines = Lines()
    _read_outputs(io.BytesIO(b"more\n" * 10 * MAX_WAITING_LINES), lines)
    assert MAX_WAITING_LINES <= lines.qsize() <= MAX_WAITING_LINES + 2


def test_an_endless_line_of_stderr_is_read_in_parts() -> None:
    class Endless(io.BytesIO):
        """Counts what is read at once."""

        largest = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            self.largest = max(self.largest, len(line))
            return line

    pipe, lines = Endless(b"x" * (1 << 20)), deque[str](maxlen=MAX_STDERR_LINES)
    read_stderr(pipe, lines)
    assert pipe.largest <= 1 << 16
    assert {len(line) for line in lines} == {MAX_STDERR_CHARACTERS}
