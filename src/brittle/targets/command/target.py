"""A program as a target: `cmd:PROGRAM ARGS…`, which answers line by line.

Each text is sent as one line of JSON, `{"text": "…"}` or with the names of several fields. The
program answers each with one line: JSON (a list of scores, a map label → score, a list of
{label, score}, a label, a number) or a plain label. It must flush after every line and write its
logs to stderr.

The program runs as long as the target is used. After its start it is asked one simple sentence. If
it ends or does not answer a text in time, it is started again and asked again; after the second
failure only that text fails. If it does not answer the simple sentence, the target is down.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from brittle.errors import TargetDown, TargetError, UsageError
from brittle.targets.command.program import NoAnswer, Program
from brittle.targets.fingerprints.hashing import hash_parts, probe_texts
from brittle.targets.json_replies import parse_json
from brittle.targets.labels import Labels, label_names
from brittle.targets.protocols import Scores
from brittle.targets.rendering import render
from brittle.targets.scores import check_kind, parse_answers
from brittle.text import Text

EXTRA_LINE_SECONDS = 0.05  # how long to wait for a line too many


class Command:
    """A program that classifies one text per line; `timeout` is for one line, in seconds.

    `startup` is the timeout of the first line after a start, when models are loaded.
    """

    costly = True
    in_process = False
    parallel = 1
    batch = 1  # when a line fails, no other line is asked again

    def __init__(
        self,
        command: str,
        *,
        labels: Labels = None,
        scores: str = "auto",
        mask: str = "",
        name: str | None = None,
        timeout: float = 30.0,
        startup: float | None = None,
    ) -> None:
        self.arguments = _parse_command(command)
        self.name = name or f"cmd:{Path(self.arguments[0]).name}"
        self._who = f"The program {shlex.join(self.arguments)!r}"
        self.labels = label_names(None, labels, self._who)
        self.kind = check_kind(scores)
        self.label_only = self.kind == "label"
        self.mask = mask
        self.timeout = timeout
        self.startup = 4 * timeout if startup is None else startup
        self._program: Program | None = None

    def __repr__(self) -> str:
        return f"Command({shlex.join(self.arguments)!r})"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the command line and the files it names: an edited script is another target."""
        paths = [Path(word) for word in self.arguments if os.sep in word or "." in word]
        contents = [path.read_bytes() for path in paths if path.is_file()]
        return hash_parts(*self.arguments, *self.labels, self.kind, self.mask, *contents)

    def scores(self, items: Sequence[Text]) -> Scores:
        if not items:
            return np.zeros((0, len(self.labels)))
        return np.concatenate([self._score(item) for item in items])

    def close(self) -> None:
        if self._program is not None:
            self._program.end()
            self._program = None

    def _score(self, item: Text) -> Scores:
        for _ in range(2):
            program = self._program or self._start(item)
            extra = program.read_extra_line()
            if extra is not None:
                self.close()
                raise TargetDown(
                    f"{self._who} printed a line nobody asked for: {extra[:80]!r}. Expected one "
                    "line for every text: answers can no longer be told apart. Send its logs to "
                    "stderr."
                )
            try:
                return self._parse(program.ask(_format_line(item, self.mask), self.timeout))
            except NoAnswer as error:
                problem = f"{error}{_quote_stderr(program)}"
                self.close()
        raise TargetError(f"{self._who} fails on this text, two times: {problem}.")

    def _start(self, item: Text) -> Program:
        """Start the program and check that it answers a simple sentence."""
        try:
            program = Program(self.arguments)
        except OSError as error:
            raise UsageError(f"{self._who} cannot be started: {error}.") from error
        sentence = probe_texts([field.name for field in item.frame.fields])[0]
        try:
            answer = program.ask(_format_line(sentence, self.mask), self.startup)
        except NoAnswer as error:
            program.end()
            raise TargetDown(
                f"{self._who} does not answer: {error}{_quote_stderr(program)}. Expected one line "
                "on stdout for every line of JSON on stdin, flushed at once."
            ) from error
        try:
            self._parse(answer)
        except UsageError:
            program.end()
            raise
        except TargetError as error:
            program.end()
            raise UsageError(
                f"{self._who} answered a plain sentence with {answer[:200]!r}, which cannot be "
                f"read: {error}"
            ) from error
        extra = program.read_extra_line(EXTRA_LINE_SECONDS)
        if extra is not None:
            program.end()
            raise UsageError(
                f"{self._who} answered one text with more than one line: {answer[:80]!r}, then "
                f"{extra[:80]!r}. Send its logs to stderr."
            )
        self._program = program
        return program

    def _parse(self, answer: str) -> Scores:
        try:
            value: Any = parse_json(answer, self._who)
        except ValueError:
            value = answer
        return parse_answers([value], 1, self.labels, self.kind, self._who)


def _parse_command(command: str) -> list[str]:
    try:
        arguments = shlex.split(command.removeprefix("cmd:"))
    except ValueError as error:
        raise UsageError(f"Cannot read the command {command!r}: {error}.") from error
    if not arguments:
        raise UsageError("Got an empty command. Expected cmd:PROGRAM ARGS, without a shell.")
    if shutil.which(arguments[0]) is None:
        raise UsageError(
            f"There is no program {arguments[0]!r}. Give its path, or a name found on PATH; the "
            "command is run without a shell."
        )
    return arguments


def _format_line(item: Text, mask: str) -> bytes:
    text = render(item, mask)
    fields = text if isinstance(text, dict) else {"text": text}
    # ASCII with escapes: line breaks, NUL and every script survive any locale.
    return json.dumps(fields).encode("ascii") + b"\n"


def _quote_stderr(program: Program) -> str:
    lines = program.stderr_lines
    return f"; it wrote to stderr: {' | '.join(lines)!r}" if lines else ""
