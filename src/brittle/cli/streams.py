"""Where results are printed. What a target prints itself goes to stderr, and spoils no JSON."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO

_results: TextIO | None = None


def results() -> TextIO:
    """Return the stream for results: the stdout that the command was called with."""
    return sys.stdout if _results is None else _results


def prepare_streams() -> None:
    """Open streams that are closed, and have stdout show a question mark for what it cannot."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # else a run's file would get this number
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


@contextlib.contextmanager
def own_stdout() -> Iterator[None]:
    """Keep stdout for results; all else that is printed, by child processes too, goes to stderr."""
    global _results
    before, stdout = _results, sys.stdout
    with _aside(stdout) as stream:
        _results, sys.stdout = stream, sys.stderr
        try:
            yield
            stream.flush()
        finally:
            _results, sys.stdout = before, stdout


@contextlib.contextmanager
def _aside(stdout: TextIO) -> Iterator[TextIO]:
    """Yield a stream to where stdout leads, and have its descriptor lead to stderr meanwhile."""
    if not _has_descriptor(stdout, 1) or not _has_descriptor(sys.stderr, 2):
        yield stdout
        return
    stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    stream = open(kept, "w", encoding=stdout.encoding, errors="replace")  # noqa: SIM115
    stream.reconfigure(line_buffering=os.isatty(kept))
    try:
        yield stream
    except BrokenPipeError:
        # The reader (head, less) is gone: nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), kept)
    finally:
        stdout.flush()
        os.dup2(kept, 1)
        stream.close()


def _has_descriptor(stream: TextIO, number: int) -> bool:
    try:
        return stream.fileno() == number
    except (OSError, ValueError, AttributeError):
        return False
