"""The parser of the command line, its flags, and which of them a misspelt word probably means.

The flags of a parser, and which of them a misspelt word probably means. The parser of the command
line: the asked command with its flags, the others by their help.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from typing import NoReturn

from brittle.cli.commands import OWN_COMMANDS, commands, load_command
from brittle.errors import UsageError, unknown
from brittle.redaction import visible

ELSEWHERE = {"--beam": "The beam of a translator stands behind its name, as in TARGET?beam=4. "}
"""Hints for flags that people look for, where the thing itself is not a flag."""


def flags_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """Return the flags of a parser by name."""
    return dict(parser._option_string_actions)


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands of a parser; none if it has no commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def check_spelling(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Refuse an unknown command or flag, with the one that was probably meant.

    The parser would refuse them too, but without a hint, and after a flag that is required.
    """
    for word in words:
        if word == "--":
            return
        if word.startswith("--") and not word.startswith("---"):
            _check_flag(parser, word.split("=")[0])
        elif commands := commands_of(parser):
            if word.startswith("-"):
                continue
            if word not in commands:
                raise unknown("command", word, commands, f"{parser.prog} --help explains them.")
            parser = commands[word]


def _check_flag(parser: argparse.ArgumentParser, flag: str) -> None:
    flags = [name for name in flags_of(parser) if name.startswith("--")]
    # A flag may be abbreviated as long as it is the beginning of one.
    if any(name.startswith(flag) for name in flags):
        return
    near = difflib.get_close_matches(flag, flags, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    hint = ELSEWHERE.get(flag, hint)
    raise UsageError(
        f"{parser.prog} has no flag {flag}. {hint}{parser.prog} --help lists its flags; those of "
        "an attack come with its name."
    )


TARGETS = "{targets}"
"""Stands in the examples of a command for the list of the kinds of targets."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors show the names of files as they are, whatever these hold."""

    def error(self, message: str) -> NoReturn:
        super().error(visible(message))


def build_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser for a command line; an attack named there adds its settings as flags.

    Of all commands only the one that is asked for is imported and gets its flags.
    """
    parser = _Parser(
        prog="brittle",
        description="Find the inputs that break a text model, and measure how easily it breaks.",
        epilog="brittle COMMAND --help explains a command and shows examples.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and end")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    asked = asked_command(words)
    # The commands of other packages are not looked up for one of our own.
    table = OWN_COMMANDS if asked in OWN_COMMANDS else commands()
    for name, entry in table.items():
        subparser = subparsers.add_parser(
            name,
            help=entry.help,
            description=f"{entry.help[0].upper()}{entry.help[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == asked:
            _complete(subparser, name, words)
    return parser


def asked_command(words: Sequence[str]) -> str | None:
    """Return the command that a command line asks for, its first word that is no flag."""
    return next((word for word in words if not word.startswith("-")), None)


def _complete(parser: argparse.ArgumentParser, name: str, words: Sequence[str]) -> None:
    """Add to the parser of a command its examples, its flags, and the settings of an attack."""
    command = load_command(name)
    parser.epilog = command.examples
    if TARGETS in command.examples:
        from brittle.targets.registry import describe_kinds, describe_translators

        kinds = f"{describe_kinds()}  ({describe_translators()})"
        parser.epilog = command.examples.replace(TARGETS, kinds)
    command.add_flags(parser)
    if command.attack_words is not None:
        from brittle.cli.attack_flags import add_setting_flags, named_attacks

        named = named_attacks(command, words[1:]) if words[0] == name else []
        add_setting_flags(parser, named, command)
