"""The command line of a program: parsed without a shell, and hashed with the files it names."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from brittle.errors import UsageError
from brittle.targets.fingerprints.hashing import hash_parts


def parse_command(command: str, prefix: str) -> list[str]:
    """Split what stands after the prefix into a program that is there and its arguments."""
    try:
        arguments = shlex.split(command.removeprefix(prefix))
    except ValueError as error:
        raise UsageError(f"Cannot read the command {command!r}: {error}.") from error
    if not arguments:
        raise UsageError(f"Got an empty command. Expected {prefix}PROGRAM ARGS, without a shell.")
    if shutil.which(arguments[0]) is None:
        raise UsageError(
            f"There is no program {arguments[0]!r}. Give its path, or a name found on PATH; the "
            "command is run without a shell."
        )
    return arguments


def hash_command(arguments: Sequence[str], *about: str) -> str:
    """Hash a command line and the files it names: an edited script is another target."""
    paths = [Path(word) for word in arguments if os.sep in word or "." in word]
    contents = [path.read_bytes() for path in paths if path.is_file()]
    return hash_parts(*arguments, *about, *contents)
