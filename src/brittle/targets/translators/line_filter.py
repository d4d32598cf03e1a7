"""A line filter as a target: `filter:PROGRAM ARGS…`, plain lines in, plain lines out.

One process is started for every batch. It reads one text a line until its input ends, and writes
one line for each, in order. Line breaks and NUL inside a text become spaces. After a failure the
program is asked one simple sentence; if it fails on that too, the target is down.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import IO

from brittle.errors import TargetDown, TargetError, UsageError
from brittle.targets.command.arguments import hash_command, parse_command
from brittle.targets.command.conversation import describe_program
from brittle.targets.command.pipes import (
    GRACE_SECONDS,
    MAX_STDERR_LINES,
    kill,
    quote_stderr,
    read_stderr,
    start_thread,
)
from brittle.targets.fingerprints.hashing import SENTENCES
from brittle.targets.rendering import render_single
from brittle.targets.translators.fingerprints import hash_translations
from brittle.targets.translators.texts import max_characters
from brittle.text import Text

PREFIX = "filter:"
MAX_BYTES_PER_CHARACTER = 4  # in UTF-8
CHUNK_BYTES = 1 << 16
# What Python, C or a terminal may take as the end of a line, and the mark that ends C's strings.
_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029\0]")


class LineFilter:
    """A program that translates all lines of its input; `timeout` is for a batch, in seconds."""

    labels: tuple[str, ...] = ()
    costly = True
    in_process = False
    parallel = 1

    def __init__(
        self, command: str, *, mask: str = "", name: str | None = None, timeout: float = 30.0
    ) -> None:
        self.arguments = parse_command(command, PREFIX)
        self.name = name or f"{PREFIX}{Path(self.arguments[0]).name}"
        self.mask = mask
        self.timeout = timeout
        self._who = describe_program(self.arguments)

    def __repr__(self) -> str:
        return f"LineFilter({shlex.join(self.arguments)!r})"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the command line, the files it names, and its answers to fixed sentences."""
        return hash_translations(self.translate, hash_command(self.arguments, "text", self.mask))

    def translate(self, items: Sequence[Text]) -> list[str]:
        """Translate a batch by one process."""
        if not items:
            return []
        texts = render_single(items, self.mask, self._who)
        try:
            return self._run(texts, sum(map(max_characters, items)))
        except TargetError as error:
            self._check_alive(error)
            raise

    def _check_alive(self, problem: TargetError) -> None:
        """Ask a simple sentence; if it is not answered, no text will be."""
        try:
            self._run([SENTENCES[0]], max_characters(Text.of(SENTENCES[0])))
        except TargetError as error:
            raise TargetDown(f"{error} This was a plain sentence; the target is down.") from problem

    def _run(self, texts: Sequence[str], max_output: int) -> list[str]:
        lines = [_BREAKS.sub(" ", text) for text in texts]
        content = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
        output = self._output(content, MAX_BYTES_PER_CHARACTER * max_output, len(lines))
        answers = output.decode("utf-8", "replace").removesuffix("\n").split("\n") if output else []
        if len(answers) != len(lines):
            raise TargetError(
                f"{self._who} gave {len(answers)} lines for {len(lines)}. Expected one for every "
                "line of its input, in order."
            )
        return [answer.removesuffix("\r") for answer in answers]

    def _output(self, content: bytes, max_bytes: int, count: int) -> bytes:
        """Run the program on its input; return what it writes, if it ends in time and well."""
        deadline = time.monotonic() + self.timeout
        chunks: list[bytes] = []
        stderr: deque[str] = deque(maxlen=MAX_STDERR_LINES)
        with tempfile.TemporaryFile() as stdin:
            stdin.write(content)
            stdin.seek(0)
            process = self._start(stdin)
        readers = (
            start_thread(_read, process.stdout, max_bytes, chunks),
            start_thread(read_stderr, process.stderr, stderr),
        )
        problem = ""
        readers[0].join(self.timeout)
        try:
            if sum(map(len, chunks)) > max_bytes:
                problem = f"wrote more than {max_bytes} bytes and was stopped"
            elif readers[0].is_alive():
                problem = _too_slow(self.timeout)
            elif code := process.wait(max(0.0, deadline - time.monotonic())):
                problem = f"ended with exit code {code}"
        except subprocess.TimeoutExpired:
            problem = _too_slow(self.timeout)
        if process.returncode is None:
            kill(process)
        for reader in readers:
            reader.join(GRACE_SECONDS)
        if problem:
            raise TargetError(f"{self._who}, given {count} lines, {problem}{quote_stderr(stderr)}.")
        return b"".join(chunks)

    def _start(self, stdin: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            # In its own session, Ctrl-C does not reach it, and its children can be ended with it.
            return subprocess.Popen(
                self.arguments,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"{self._who} cannot be started: {error}.") from error


def _read(pipe: IO[bytes], max_bytes: int, chunks: list[bytes]) -> None:
    """Read a pipe to its end, or until it has given more than `max_bytes`."""
    size = 0
    with pipe:
        while size <= max_bytes and (chunk := pipe.read1(CHUNK_BYTES)):  # type: ignore[attr-defined]
            chunks.append(chunk)
            size += len(chunk)


def _too_slow(seconds: float) -> str:
    return (
        f"did not end within {seconds:g} s (it must end when its input ends; --timeout gives it "
        "longer, --batch fewer lines)"
    )
