"""The parser of the command line: the asked command with its flags, the others by their help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from brittle.cli.commands import OWN_COMMANDS, commands, load_command
from brittle.visible import visible

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
        from brittle.cli.attack_settings import add_setting_flags, named_attacks

        named = named_attacks(command, words[1:]) if words[0] == name else []
        add_setting_flags(parser, named, command)
