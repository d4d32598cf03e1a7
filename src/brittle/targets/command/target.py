"""A program as a target: `cmd:PROGRAM ARGS…`, which answers line by line.

Each text is sent as one line of JSON, `{"text": "…"}` or with the names of several fields. The
program answers each with one line: JSON (a list of scores, a map label → score, a list of
{label, score}, a label, a number) or a plain label. It must flush after every line and write its
logs to stderr. How it is started and asked again is in conversation.py.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from brittle.targets.answered_labels import answered_labels, learns_labels, refuse_unnamed
from brittle.targets.command.arguments import hash_command, parse_command
from brittle.targets.command.conversation import Conversation, describe_program
from brittle.targets.json_replies import parse_json
from brittle.targets.labels import IF_IT_TRANSLATES, label_names
from brittle.targets.options import Labels, check_kind
from brittle.targets.protocols import Scores
from brittle.targets.scores import parse_answers
from brittle.text import Text

PREFIX = "cmd:"


class Command:
    """A program that classifies one text per line; `timeout` is for one line, in seconds.

    `startup` is the timeout of the first line after a start, when models are loaded. If nobody
    names its labels, it is started at once and asked about a plain sentence with these `fields`.
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
        fields: Sequence[str] = ("text",),
    ) -> None:
        self.arguments = parse_command(command, PREFIX)
        self.name = name or f"{PREFIX}{Path(self.arguments[0]).name}"
        self._who = describe_program(self.arguments)
        self._learns = learns_labels(None, labels)
        self.labels = () if self._learns else label_names(None, labels, self._who, IF_IT_TRANSLATES)
        self.kind = check_kind(scores)
        self.label_only = self.kind == "label"
        self.mask = mask
        self.conversation = Conversation(
            self.arguments, self._parse, mask=mask, timeout=timeout, startup=startup
        )
        if self._learns:
            self.conversation.begin(fields)

    def __repr__(self) -> str:
        return f"Command({shlex.join(self.arguments)!r})"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the command line and the files it names: an edited script is another target."""
        return hash_command(self.arguments, *self.labels, self.kind, self.mask)

    def scores(self, items: Sequence[Text]) -> Scores:
        if not items:
            return np.zeros((0, len(self.labels)))
        return np.concatenate([self.conversation.ask(item) for item in items])

    def close(self) -> None:
        self.conversation.close()

    def _parse(self, answer: str) -> Scores:
        try:
            value: Any = parse_json(answer, self._who)
        except ValueError:
            value = answer
        if self._learns:
            # The first answer is that on the plain sentence.
            self.labels = self.labels or answered_labels(value, self.kind, self._who)
            refuse_unnamed([value], self._who)
        return parse_answers([value], 1, self.labels, self.kind, self._who)
