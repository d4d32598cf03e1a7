"""The parser of the command line: every command with its flags, its help and its examples."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import NoReturn

from brittle.cli.attack_settings import add_setting_flags, named_attacks
from brittle.cli.command import Command
from brittle.cli.commands import (
    annotate,
    attack,
    augment,
    compare,
    completion,
    grid,
    importance,
    inside,
    keeping,
    listing,
    nearest,
    perturb,
    robustness,
    rules,
    runs,
    select,
    train,
    transfer,
    validity,
)
from brittle.cli.commands import try_sentence as try_
from brittle.visible import visible

_log = logging.getLogger("brittle")
GROUP = "brittle.commands"
"""The entry points by which a package adds commands: NAME = "module:COMMAND", a `Command`."""
LAST = ("list", "completion")
OWN_COMMANDS: Mapping[str, Command] = {
    "attack": attack.COMMAND,
    "try": try_.COMMAND,
    "show": runs.SHOW,
    "report": runs.REPORT,
    "card": runs.CARD,
    "export": runs.EXPORT,
    "verify": runs.VERIFY,
    "annotate": annotate.COMMAND,
    "validity": validity.COMMAND,
    "delete": keeping.DELETE,
    "rename": keeping.RENAME,
    "compare": compare.COMMAND,
    "train": train.COMMAND,
    "augment": augment.COMMAND,
    "nearest": nearest.COMMAND,
    "inside": inside.COMMAND,
    "perturb": perturb.COMMAND,
    "grid": grid.COMMAND,
    "transfer": transfer.COMMAND,
    "select": select.COMMAND,
    "importance": importance.COMMAND,
    "robustness": robustness.COMMAND,
    "rules": rules.COMMAND,
    "list": listing.COMMAND,
    "completion": completion.COMMAND,
}


@cache
def commands() -> Mapping[str, Command]:
    """Return all commands in the order of the help: our own, and those of installed packages."""
    first = {name: command for name, command in OWN_COMMANDS.items() if name not in LAST}
    return first | _installed_commands() | {name: OWN_COMMANDS[name] for name in LAST}


def _installed_commands() -> dict[str, Command]:
    """Load the commands of installed packages; one that cannot be loaded is left out."""
    found: dict[str, Command] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            command = entry.load()
        except Exception as error:
            _log.warning("The command %r (%s) cannot be loaded: %s", entry.name, entry.value, error)
            continue
        if entry.name in OWN_COMMANDS or not isinstance(command, Command):
            reason = "brittle has one of this name" if entry.name in OWN_COMMANDS else "no Command"
            _log.warning("The command %r (%s) is ignored: %s", entry.name, entry.value, reason)
            continue
        found[entry.name] = command
    return found


class _Parser(argparse.ArgumentParser):
    """A parser whose errors show the names of files as they are, whatever these hold."""

    def error(self, message: str) -> NoReturn:
        super().error(visible(message))


def build_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser for a command line; an attack named there adds its settings as flags."""
    parser = _Parser(
        prog="brittle",
        description="Find the inputs that break a text model, and measure how easily it breaks.",
        epilog="brittle COMMAND --help explains a command and shows examples.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and end")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in commands().items():
        subparser = subparsers.add_parser(
            name,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            epilog=command.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_flags(subparser)
        named = named_attacks(command, words[1:]) if [*words[:1]] == [name] else []
        add_setting_flags(subparser, named, command)
    return parser
