"""A line filter as a target: `filter:PROGRAM ARGS…`, plain lines in, plain lines out.

One process is started for every batch. It reads one text a line until its input ends, and writes
one line for each, in order. Line breaks and NUL inside a text become spaces. How texts are parted
is found out when the program is first used (`layouts`). After a failure the program is asked one
simple sentence; if it fails on that too, the target is down.
"""

from __future__ import annotations

import json
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

from brittle.errors import TargetDown, TargetError
from brittle.formatting import plural
from brittle.redaction import redact
from brittle.targets.command.arguments import hash_command, parse_command
from brittle.targets.command.pipes import (
    GRACE_SECONDS,
    MAX_STDERR_LINES,
    kill,
    quote_stderr,
    read_stderr,
    start_process,
    start_thread,
)
from brittle.targets.command.transport import describe_program
from brittle.targets.fingerprints.hashing import SENTENCES, hash_answers, probe_texts
from brittle.targets.options import TargetOptions
from brittle.targets.rendering import render_single
from brittle.targets.translators.layouts import ALONE, Layout, find_layout
from brittle.targets.translators.texts import max_characters
from brittle.text import Text

PREFIX = "filter:"
MAX_BYTES_PER_CHARACTER = 4  # in UTF-8
CHUNK_BYTES = 1 << 16
MAX_TEXTS = 1024  # of one process
QUICK_SHARE = 1 / 8  # of the timeout: what takes less may have twice as many texts
# What Python, C or a terminal may take as the end of a line, and the mark that ends C's strings.
_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029\0]")


class LineFilter:
    """A program that translates all lines of its input; `timeout` is for a batch, in seconds.

    A start takes long, so a batch is large. If one is not done in time, the next are smaller, until
    they take little of the time again.
    """

    labels: tuple[str, ...] = ()
    costly = True
    in_process = False
    parallel = 1
    batch = MAX_TEXTS

    def __init__(
        self, command: str, *, mask: str = "", name: str | None = None, timeout: float = 30.0
    ) -> None:
        self.arguments = parse_command(command, PREFIX)
        self.name = name or f"{PREFIX}{Path(self.arguments[0]).name}"
        self.mask = mask
        self.timeout = timeout
        self._texts = MAX_TEXTS
        self._layout: Layout | None = None
        self._who = describe_program(self.arguments)

    def __repr__(self) -> str:
        return f"LineFilter({shlex.join(self.arguments)!r})"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the command line, the files it names, and its answers to fixed sentences."""
        probes, command = probe_texts(), hash_command(self.arguments, "text", self.mask)
        return hash_answers("texts", lambda: json.dumps(self.translate(probes)), command)

    @property
    def mixes_texts(self) -> bool:
        """Tell whether texts of one process change each other; known once it was asked."""
        return self._layout == ALONE

    def translate(self, items: Sequence[Text]) -> list[str]:
        """Translate texts by one process, or by several if they are too many for its time."""
        if not items:
            return []
        texts = render_single(items, self.mask, self._who)
        limits = [max_characters(item) for item in items]
        answers: list[str] = []
        try:
            layout = self._layout = self._layout or find_layout(self._ask_plain)
            while len(answers) < len(texts):
                count = min(self._texts, layout.max_texts or self._texts)
                part = slice(len(answers), len(answers) + count)
                answers += self._run(texts[part], sum(limits[part]), layout)
        except TargetError as error:
            self._check_alive(error)
            raise
        return answers

    def _check_alive(self, problem: TargetError) -> None:
        """Ask a simple sentence; if it is not answered, no text will be."""
        try:
            self._ask_plain([SENTENCES[0]], ALONE)
        except TargetError as error:
            raise TargetDown(f"{error} This was a plain sentence; the target is down.") from problem

    def _ask_plain(self, sentences: Sequence[str], layout: Layout) -> list[str]:
        """Translate sentences of our own in one process."""
        limit = sum(max_characters(Text.of(sentence)) for sentence in sentences)
        return self._run(sentences, limit, layout)

    def _run(self, texts: Sequence[str], max_output: int, layout: Layout) -> list[str]:
        lines = layout.write([_BREAKS.sub(" ", text) for text in texts])
        content = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
        start = time.monotonic()
        output = self._output(content, MAX_BYTES_PER_CHARACTER * max_output, len(texts))
        if time.monotonic() - start < QUICK_SHARE * self.timeout:
            self._texts = max(self._texts, min(2 * len(texts), MAX_TEXTS))
        answers = output.decode("utf-8", "replace").removesuffix("\n").split("\n") if output else []
        answers = [answer.removesuffix("\r") for answer in answers]
        return layout.read(list(map(redact, answers)), self._who, len(texts))

    def _output(self, content: bytes, max_bytes: int, count: int) -> bytes:
        """Run the program on its input; return what it writes, if it ends in time and well."""
        deadline = time.monotonic() + self.timeout
        chunks: list[bytes] = []
        stderr: deque[str] = deque(maxlen=MAX_STDERR_LINES)
        with tempfile.TemporaryFile() as stdin:
            stdin.write(content)
            stdin.seek(0)
            process = start_process(self.arguments, self._who, stdin)
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
            self._texts = max(1, min(self._texts, count // 2))
        for reader in readers:
            reader.join(GRACE_SECONDS)
        if problem:
            texts = plural(count, "texts")
            raise TargetError(f"{self._who}, given {texts}, {problem}{quote_stderr(stderr)}.")
        return b"".join(chunks)


def open_filter(spec: str, options: TargetOptions) -> LineFilter:
    """Open `filter:PROGRAM ARGS`, a program that translates lines."""
    options.refuse_classifier()
    mask = options.black_box_mask
    return LineFilter(spec, mask=mask, name=options.name, timeout=options.timeout)


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
        "longer, --batch fewer texts)"
    )
