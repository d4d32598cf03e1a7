"""Questions to a program, line by line, and the target that it is.

The conversation with a program that answers line by line, whatever its answers mean.

Each text is sent as one line of JSON. The program runs as long as the target is used. After its
start it is asked one simple sentence. If it ends or does not answer a text in time, it is started
again and asked again; after the second failure only that text fails. If it does not answer the
simple sentence, the target is down.

A program as a target: `cmd:PROGRAM ARGS…`, which answers line by line.

Each text is sent as one line of JSON, `{"text": "…"}` or with the names of several fields. The
program answers each with one line: JSON (a list of scores, a map label → score, a list of
{label, score}, a label, a number) or a plain label. With `--answers text` the line is a text: a
string in JSON, or the plain translation. It must flush after every line and write its logs to
stderr; a program that cannot flush is a `filter:`. How it is started and asked again is in
transport.py.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from brittle.errors import TargetDown, TargetError, UsageError
from brittle.redaction import redact
from brittle.targets.answer_parsers import (
    BlackBoxClassifier,
    BlackBoxTranslator,
    LineParser,
    ScoreParser,
    TextParser,
    of_transport,
)
from brittle.targets.command.program import (
    NoAnswer,
    Program,
    hash_command,
    parse_command,
    quote_stderr,
)
from brittle.targets.fingerprints import probe_texts
from brittle.targets.options import TargetOptions, render
from brittle.text import Text

A = TypeVar("A")

EXTRA_LINE_SECONDS = 0.05  # how long to wait for a line too many


class ProgramTransport(Generic[A]):
    """Asks a program about one text after another; `answers` says what its lines mean.

    `timeout` is for one line, in seconds; `startup` for the first line after a start, when models
    are loaded.
    """

    costly = True
    in_process = False
    parallel = 1
    batch = 1  # when a line fails, no other line is asked again

    def __init__(
        self,
        arguments: Sequence[str],
        answers: LineParser[A],
        *,
        name: str,
        mask: str = "",
        timeout: float = 30.0,
        startup: float | None = None,
    ) -> None:
        self.arguments, self.answers, self.name = arguments, answers, name
        self.mask = mask
        self.timeout = timeout
        self.startup = 4 * timeout if startup is None else startup
        self._who = describe_program(arguments)
        self._program: Program | None = None

    def __repr__(self) -> str:
        return f"ProgramTransport({shlex.join(self.arguments)!r})"

    def ask(self, items: Sequence[Text]) -> A:
        return self.answers.join([self._ask(item) for item in items])

    def hash(self) -> str:
        """Hash the command line and the files it names: an edited script is another target."""
        return hash_command(self.arguments, *self.answers.settings, self.mask)

    def _ask(self, item: Text) -> A:
        """Return the program's answer on a text."""
        for _ in range(2):
            program = self._program or self._start([field.name for field in item.frame.fields])
            extra = program.read_extra_line()
            if extra is not None:
                self.close()
                raise TargetDown(
                    f"{self._who} printed an extra line: {redact(extra)[:80]!r}. Expected "
                    "one line per text. Send its logs to stderr."
                )
            try:
                return self._parse(program.ask(_format_line(item, self.mask), self.timeout))
            except NoAnswer as error:
                problem = f"{error}{quote_stderr(program.stderr_lines)}"
                self.close()
        raise TargetError(f"{self._who} failed twice on this text: {problem}.")

    def begin(self, fields: Sequence[str]) -> None:
        """Start the program before the first text; the simple sentence has these fields."""
        self._start(fields)

    def close(self) -> None:
        if self._program is not None:
            self._program.end()
            self._program = None

    def _parse(self, line: str) -> A:
        value = self.answers.read_line(line, self._who)
        self.answers.learn(value, self._who)  # the first answer is that on the plain sentence
        return self.answers.parse([value], 1, self._who)

    def _start(self, fields: Sequence[str]) -> Program:
        """Start the program and check that it answers a simple sentence."""
        program = Program(self.arguments, self._who)
        sentence = probe_texts(fields)[0]
        try:
            answer = program.ask(_format_line(sentence, self.mask), self.startup)
        except NoAnswer as error:
            program.end()
            raise TargetDown(
                f"{self._who} does not answer: "
                f"{error}{quote_stderr(program.stderr_lines)}. Expected one line on "
                "stdout for every line of JSON on stdin, flushed after each line."
            ) from error
        try:
            self._parse(answer)
        except UsageError:
            program.end()
            raise
        except TargetError as error:
            program.end()
            raise UsageError(
                f"{self._who} answered a plain sentence with {redact(answer)[:200]!r}, which "
                f"cannot be read: {error}"
            ) from error
        extra = program.read_extra_line(EXTRA_LINE_SECONDS)
        if extra is not None:
            program.end()
            raise UsageError(
                f"{self._who} answered one text with more than one line: "
                f"{redact(answer)[:80]!r}, then {redact(extra)[:80]!r}. Send its logs to stderr."
            )
        self._program = program
        return program


def describe_program(arguments: Sequence[str]) -> str:
    """Name a program in messages."""
    return f"The program {shlex.join(arguments)!r}"


def _format_line(item: Text, mask: str) -> bytes:
    text = render(item, mask)
    fields = text if isinstance(text, dict) else {"text": text}
    # ASCII with escapes: line breaks, NUL and every script survive any locale.
    return json.dumps(fields).encode("ascii") + b"\n"


PREFIX = "cmd:"


def open_command(
    spec: str, options: TargetOptions, *, startup: float | None = None
) -> BlackBoxClassifier | BlackBoxTranslator:
    """Open `cmd:PROGRAM ARGS`, a program that answers line by line.

    `startup` is the timeout of the first line after a start. If nobody names its labels, it is
    started at once and asked about a plain sentence with the fields of the data.
    """
    arguments = parse_command(spec, PREFIX)
    answers: LineParser[Any] = (
        TextParser.of(options)
        if options.answers == "text"
        else ScoreParser.of(options, describe_program(arguments))
    )
    transport = ProgramTransport(
        arguments,
        answers,
        name=options.name or f"{PREFIX}{Path(arguments[0]).name}",
        mask=options.black_box_mask,
        timeout=options.timeout,
        startup=startup,
    )
    if isinstance(answers, ScoreParser) and answers.learns:
        transport.begin(options.fields)
    return of_transport(transport)
