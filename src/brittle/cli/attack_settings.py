"""The settings of the attack that a command line names, as flags."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from brittle.attacks import ATTACKS, Setting, recipe, settings
from brittle.cli.command import Command
from brittle.errors import UsageError

PREFIX = "set_"


class _QuietParser(argparse.ArgumentParser):
    """A parser that raises where argparse prints a message and ends the program."""

    def error(self, message: str) -> NoReturn:
        raise argparse.ArgumentError(None, message)


def named_attack(command: Command, words: Sequence[str]) -> str | None:
    """Return the attack that the words after a command name, or None.

    A parser of its own is needed: the command's parser must know the settings of the attack before
    it parses.
    """
    if command.attack_words is None:
        return None
    # Without abbreviations, so that the setting --n is not taken for --name.
    parser = _QuietParser(add_help=False, allow_abbrev=False)
    command.add_flags(parser)
    try:
        # --data is required, but a call for help may leave it out.
        args, rest = parser.parse_known_args(["--data=", *words])
    except argparse.ArgumentError:
        return None
    candidates = command.attack_words(args, rest)
    return next((w for w in candidates if w.lower() in ATTACKS or w.startswith("python:")), None)


def add_setting_flags(parser: argparse.ArgumentParser, attack: str, command: Command) -> None:
    group = parser.add_argument_group(f"settings of {attack}")
    for setting in settings(recipe(attack)):
        if setting.name in command.own_settings:
            continue
        try:
            group.add_argument("--" + setting.name.replace("_", "-"), **_options(setting))
        except argparse.ArgumentError:
            raise UsageError(
                f"The setting {setting.name!r} of {attack} is also a flag of {parser.prog}. Give "
                "the setting another name."
            ) from None


def parsed_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the attack that were set on the command line."""
    return {
        name.removeprefix(PREFIX): value
        for name, value in vars(args).items()
        if name.startswith(PREFIX)
    }


def _options(setting: Setting) -> dict[str, Any]:
    default = "" if setting.default is None else f" (default: {setting.default})"
    options: dict[str, Any] = {
        "dest": PREFIX + setting.name,
        "default": argparse.SUPPRESS,
        "help": setting.help + default,
        "required": setting.required,
    }
    if setting.kind is bool:
        return options | {"action": argparse.BooleanOptionalAction}
    return options | {"type": setting.kind, "metavar": setting.kind.__name__.upper()}
