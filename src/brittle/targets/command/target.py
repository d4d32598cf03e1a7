"""A program as a target: `cmd:PROGRAM ARGS…`, asked and answering line by line.

Each text goes in as one line of JSON, `{"text": "…"}` or with the names of several fields; the
program answers each with one line: JSON (a list of scores, a map label → score, a list of
{label, score}, a label, a number) or a plain label. It must flush after every line and write its
logs to stderr.

The program runs as long as the target is used. When it is started it is asked one harmless
sentence. If it ends or does not answer in time, it is started again and asked again; if that
fails a second time with the same text, only that text fails. If it does not even answer the
harmless sentence, the target is down.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from brittle.errors import TargetDown, TargetError, UsageError
from brittle.targets.command.program import Program, Silent
from brittle.targets.fingerprints import hashing as fingerprints
from brittle.targets.labels import Labels, label_names
from brittle.targets.protocols import Scores
from brittle.targets.rendering import render
from brittle.targets.scores import check_kind, parse_answers
from brittle.text import Text

SETTLE = 0.05  # seconds in which a program that prints too much shows it


class Command:
    """A program that classifies, one line a text; `timeout` is for one line, in seconds.

    The first line after a start, when models are loaded, has `startup` seconds.
    """

    costly = True
    in_process = False
    parallel = 1
    batch = 1  # a line that fails has no others asked again with it

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
        self.arguments = _arguments(command)
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

    @property
    def fingerprint(self) -> str:
        """Hash the command line, and the files named in it: an edited script is another target."""
        files = [Path(word) for word in self.arguments if os.sep in word or "." in word]
        contents = [path.read_bytes() for path in files if path.is_file()]
        about = (*self.arguments, *self.labels, self.kind, self.mask)
        return fingerprints.of_parts(*about, *contents)

    def scores(self, items: Sequence[Text]) -> Scores:
        if not items:
            return np.zeros((0, len(self.labels)))
        return np.concatenate([self._scored(item) for item in items])

    def close(self) -> None:
        """End the program."""
        if self._program is not None:
            self._program.end()
            self._program = None

    def _scored(self, item: Text) -> Scores:
        for _ in range(2):
            program = self._program or self._started(item)
            extra = program.says_more()
            if extra is not None:
                self.close()
                raise TargetDown(
                    f"{self._who} printed a line nobody asked for: {extra[:80]!r}. Expected one "
                    "line for every text: answers can no longer be told apart. Send its logs to "
                    "stderr."
                )
            try:
                return self._read(program.ask(_line(item, self.mask), self.timeout))
            except Silent as silent:
                problem = f"{silent}{_said(program)}"
                self.close()
        raise TargetError(f"{self._who} fails on this text, two times: {problem}.")

    def _started(self, item: Text) -> Program:
        """Start the program and see that it answers a harmless sentence."""
        try:
            program = Program(self.arguments)
        except OSError as error:
            raise UsageError(f"{self._who} cannot be started: {error}.") from error
        harmless = fingerprints.probes([field.name for field in item.frame.fields])[0]
        try:
            answer = program.ask(_line(harmless, self.mask), self.startup)
        except Silent as silent:
            program.end()
            raise TargetDown(
                f"{self._who} does not answer: {silent}{_said(program)}. Expected one line on "
                "stdout for every line of JSON on stdin, flushed at once."
            ) from silent
        try:
            self._read(answer)
        except UsageError:
            program.end()
            raise
        except TargetError as error:
            program.end()
            raise UsageError(
                f"{self._who} answered a plain sentence with {answer[:200]!r}, which cannot be "
                f"read: {error}"
            ) from error
        extra = program.says_more(SETTLE)
        if extra is not None:
            program.end()
            raise UsageError(
                f"{self._who} answered one text with more than one line: {answer[:80]!r}, then "
                f"{extra[:80]!r}. Send its logs to stderr."
            )
        self._program = program
        return program

    def _read(self, answer: str) -> Scores:
        try:
            value: Any = json.loads(answer)
        except ValueError:
            value = answer
        return parse_answers([value], 1, self.labels, self.kind, self._who)


def _arguments(command: str) -> list[str]:
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


def _line(item: Text, mask: str) -> bytes:
    text = render(item, mask)
    fields = text if isinstance(text, dict) else {"text": text}
    # ASCII with escapes: line breaks, NUL and every script arrive whole in any locale.
    return json.dumps(fields).encode("ascii") + b"\n"


def _said(program: Program) -> str:
    return f"; it wrote to stderr: {' | '.join(program.complaints)!r}" if program.complaints else ""
