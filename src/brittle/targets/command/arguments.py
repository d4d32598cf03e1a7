"""The command line of a program: parsed without a shell, and hashed with the files it names.

It may hold `${NAME}`, the value of an environment variable, which only the program sees.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from brittle.errors import UsageError
from brittle.redaction import MIN_SECRET_CHARACTERS, is_secret_name
from brittle.targets.environment import VARIABLE, fill_in
from brittle.targets.fingerprints.hashing import hash_parts

INSTALLED_BY = {"apertium": "apt install apertium apertium-eng-spa"}
"""The command that installs a program which the pages name."""
_NAMED_VALUE = re.compile(r"(-{0,2}[\w.-]+)(?:=|:(?!//))\s*(.+)", re.DOTALL)
_BEFORE_NAME = re.compile("^-[DH]")  # -Dname=value, -HName:value
_SHELLS = ("sh", "bash", "dash", "ksh", "zsh", "fish")
_PASSWORD_FLAGS = "pP"
_KEY_FLAGS = "akstw"  # such as -t TOKEN; they mean other things as often
_USER_FLAGS = "uU"
_ATTACHED = re.compile(r"(-[a-zA-Z])(?![a-z_-]*(?:=|$))(.+)", re.DOTALL)  # -pVALUE, but not -port=1
_PLAIN_VALUE = re.compile(r"[a-z][a-z_./,-]*|[-+]?\d{1,5}|[-+]?\d*\.\d+|[~.]*/.*|\w+://.*")
_USER_AND_PASSWORD = re.compile(r"[^\s:%/]+[:%][^\s/]+")
_PASSWORD_IN_ADDRESS = re.compile(r"\w+://[^\s/@:]*:[^\s/@]+@")


def parse_command(command: str, prefix: str) -> list[str]:
    """Split what stands after the prefix into a program that is there and its arguments."""
    try:
        arguments = shlex.split(command.removeprefix(prefix))
    except ValueError as error:
        # The command itself is not quoted: it may hold a secret, which is not known yet.
        raise UsageError(
            f"Cannot read the command after {prefix!r}: {error}. Close every quotation mark."
        ) from error
    if not arguments:
        raise UsageError(f"Got an empty command. Expected {prefix}PROGRAM ARGS, without a shell.")
    if shutil.which(arguments[0]) is None:
        install = INSTALLED_BY.get(arguments[0])
        remedy = f" On Debian it is installed with: {install}" if install else ""
        raise UsageError(
            f"There is no program {arguments[0]!r}. Give its path, or a name found on PATH; the "
            f"command is run without a shell.{remedy}"
        )
    if name := _name_of_secret(arguments):
        raise UsageError(
            f"The command line holds the value of {name}, which looks like a secret and would "
            "be stored with what is asked. Put it in an environment variable, and name that in "
            f"single quotes: {prefix}'PROGRAM {name} ${{SECRET}}'. If it is none, use the long "
            "name of the flag, or a variable all the same."
        )
    fill_arguments(arguments)  # a variable that is not set is an error now
    return arguments


def fill_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the arguments as the program gets them, with the values of environment variables."""
    return [fill_in(argument, f"command {arguments[0]!r}") for argument in arguments]


def _name_of_secret(arguments: Sequence[str]) -> str | None:
    """Return what names a value that looks like a secret: a flag, a variable or a header."""
    for name, value in _named_values(arguments):
        is_secret = is_secret_name(name) or _is_secret_of_short_flag(name, value)
        if is_secret and not VARIABLE.search(value):
            return name
    addresses = (word for word in arguments if _PASSWORD_IN_ADDRESS.search(word))
    return next(("an address" for word in addresses if not VARIABLE.search(word)), None)


def _named_values(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names and values: of `--name value`, `--name=value`, `NAME=value` and `Name: value`.

    The blank after a colon may be missing. Of a short flag the value may follow at once, `-pVALUE`.
    The script of a shell, `-c SCRIPT`, has words of its own.
    """
    is_shell = Path(arguments[0]).name in _SHELLS if arguments else False
    for word, following in zip(arguments, [*arguments[1:], "-"]):
        if match := _NAMED_VALUE.fullmatch(word):
            yield _BEFORE_NAME.sub("", match[1]), match[2]
        elif word.startswith("-") and not following.startswith("-"):
            yield word, following
        if match := _ATTACHED.fullmatch(word):
            yield match[1], match[2]
        if word == "-c" and is_shell:
            with suppress(ValueError):
                yield from _named_values(shlex.split(following))


def _is_secret_of_short_flag(flag: str, value: str) -> bool:
    """Tell whether the value of a flag such as -p or -t looks like a password or a key.

    Nobody knows what a short flag means. After -p all but numbers, paths and addresses count;
    after others what is neither that nor a word in small letters, since keys have digits and
    capitals; after -u a user with a password.
    """
    if not re.fullmatch(r"-[a-zA-Z]", flag) or len(value) < MIN_SECRET_CHARACTERS:
        return False
    if flag[1] in _USER_FLAGS:
        return bool(_USER_AND_PASSWORD.fullmatch(value))
    if flag[1] not in _PASSWORD_FLAGS + _KEY_FLAGS or os.path.exists(value):
        return False
    is_word = value[0].isalpha() and flag[1] in _PASSWORD_FLAGS
    return is_word or not _PLAIN_VALUE.fullmatch(value)


def hash_command(arguments: Sequence[str], *about: str) -> str:
    """Hash a command line and the files it names: an edited script is another target."""
    paths = [Path(word) for word in arguments if os.sep in word or "." in word]
    contents = [path.read_bytes() for path in paths if path.is_file()]
    return hash_parts(*arguments, *about, *contents)
