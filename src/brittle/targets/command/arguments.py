"""The command line of a program: parsed without a shell, and hashed with the files it names.

It may hold `${NAME}`, the value of an environment variable, which only the program sees.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from brittle.errors import UsageError
from brittle.redaction import is_secret_name
from brittle.targets.environment import VARIABLE, fill_in
from brittle.targets.fingerprints.hashing import hash_parts

INSTALLED_BY = {"apertium": "apt install apertium apertium-eng-spa"}
"""The command that installs a program which the pages name."""
_NAMED_VALUE = re.compile(r"-{0,2}([\w.-]+)(?:=|:\s)\s*(.+)", re.DOTALL)


def parse_command(command: str, prefix: str) -> list[str]:
    """Split what stands after the prefix into a program that is there and its arguments."""
    try:
        arguments = shlex.split(command.removeprefix(prefix))
    except ValueError as error:
        raise UsageError(f"Cannot read the command {command!r}: {error}.") from error
    if not arguments:
        raise UsageError(f"Got an empty command. Expected {prefix}PROGRAM ARGS, without a shell.")
    if shutil.which(arguments[0]) is None:
        install = INSTALLED_BY.get(arguments[0])
        remedy = f" On Debian it is installed with: {install}" if install else ""
        raise UsageError(
            f"There is no program {arguments[0]!r}. Give its path, or a name found on PATH; the "
            f"command is run without a shell.{remedy}"
        )
    for name, value in _named_values(arguments):
        if is_secret_name(name) and not VARIABLE.search(value):
            raise UsageError(
                f"The command line holds the value of {name}, which looks like a secret and would "
                "be stored with what is asked. Put it in an environment variable, and name that in "
                f"single quotes: {prefix}'PROGRAM {name} ${{SECRET}}'."
            )
    fill_arguments(arguments)  # a variable that is not set is an error now
    return arguments


def fill_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the arguments as the program gets them, with the values of environment variables."""
    return [fill_in(argument, f"command {arguments[0]!r}") for argument in arguments]


def _named_values(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names and values: of `--name value`, `--name=value`, `NAME=value` and `Name: value`."""
    for word, following in zip(arguments, [*arguments[1:], "-"]):
        if match := _NAMED_VALUE.fullmatch(word):
            yield match[1], match[2]
        elif word.startswith("-") and not following.startswith("-"):
            yield word, following


def hash_command(arguments: Sequence[str], *about: str) -> str:
    """Hash a command line and the files it names: an edited script is another target."""
    paths = [Path(word) for word in arguments if os.sep in word or "." in word]
    contents = [path.read_bytes() for path in paths if path.is_file()]
    return hash_parts(*arguments, *about, *contents)
