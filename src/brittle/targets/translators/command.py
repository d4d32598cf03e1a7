"""A program that translates line by line: `cmd:PROGRAM ARGS…` with `--answers text`.

Each text is sent as one line of JSON, and answered by one line: a string in JSON, or the plain
translation. It must flush after every line; a program that cannot is a `filter:`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from brittle.targets.command.arguments import hash_command, parse_command
from brittle.targets.command.conversation import Conversation, describe_program
from brittle.targets.command.target import PREFIX
from brittle.targets.json_replies import parse_json
from brittle.targets.translators.texts import parse_texts
from brittle.text import Text


class TranslatingCommand:
    """A program that translates one text per line; `timeout` is for one line, in seconds."""

    labels: tuple[str, ...] = ()
    costly = True
    in_process = False
    parallel = 1
    batch = 1  # when a line fails, no other line is asked again

    def __init__(
        self, command: str, *, mask: str = "", name: str | None = None, timeout: float = 30.0
    ) -> None:
        self.arguments = parse_command(command, PREFIX)
        self.name = name or f"{PREFIX}{Path(self.arguments[0]).name}"
        self.mask = mask
        self._who = describe_program(self.arguments)
        self.conversation = Conversation(self.arguments, self._parse, mask=mask, timeout=timeout)

    def __repr__(self) -> str:
        return f"TranslatingCommand({shlex.join(self.arguments)!r})"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the command line and the files it names: an edited script is another target."""
        return hash_command(self.arguments, "text", self.mask)

    def translate(self, items: Sequence[Text]) -> list[str]:
        return [self.conversation.ask(item) for item in items]

    def close(self) -> None:
        self.conversation.close()

    def _parse(self, answer: str) -> str:
        # Most plain lines are no JSON, and one that is a number is still a translation.
        if not answer.startswith('"'):
            return parse_texts([answer], 1, self._who)[0]
        try:
            value = parse_json(answer, self._who)
        except ValueError:
            value = answer
        return parse_texts([value], 1, self._who)[0]
