"""Flags that attacks share: the target, and the settings of the attack.

The settings of the attack that a command line names, as flags.

The target that a command line names, or that a run was made on.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from brittle.attacks import ATTACKS, Setting, recipe, settings
from brittle.cli import console
from brittle.cli.command import Command
from brittle.errors import UsageError
from brittle.values import flags_of

if TYPE_CHECKING:
    from brittle.runs.run import Run
    from brittle.targets.options import Target
    from brittle.targets.protocols import Classifies, Translator

PREFIX = "set_"


class _QuietParser(argparse.ArgumentParser):
    """A parser that raises where argparse prints a message and ends the program."""

    def error(self, message: str) -> NoReturn:
        raise argparse.ArgumentError(None, message)


def named_attacks(command: Command, words: Sequence[str]) -> list[str]:
    """Return the attack that the words after a command name, or the attacks if it takes several.

    A parser of its own is needed: the command's parser must know the settings of the attack before
    it parses.
    """
    if command.attack_words is None:
        return []
    # Without abbreviations, so that the setting --n is not taken for --name.
    parser = _QuietParser(add_help=False, allow_abbrev=False)
    command.add_flags(parser)
    try:
        # --data is required, but a call for help may leave it out.
        args, rest = parser.parse_known_args(["--data=", *words])
    except argparse.ArgumentError:
        return []
    candidates = command.attack_words(args, rest)
    named = [w for w in candidates if w.lower() in ATTACKS or w.startswith("python:")]
    return list(dict.fromkeys(named)) if command.several_attacks else named[:1]


def add_setting_flags(
    parser: argparse.ArgumentParser, attacks: Sequence[str], command: Command
) -> None:
    """Add the settings of attacks as flags; one that several attacks have is a flag of the first.

    Of several attacks none must be set, since each can have its settings behind its name.
    """
    there = set(command.own_settings)
    for attack in attacks:
        group = parser.add_argument_group(f"settings of {attack}")
        own = [setting for setting in settings(recipe(attack)) if setting.name not in there]
        there |= {setting.name for setting in own}
        for setting in own:
            _add_flag(group, setting, attack, parser.prog, command.several_attacks)


def _add_flag(group: Any, setting: Setting, attack: str, prog: str, optional: bool) -> None:
    options = _options(setting) | ({"required": False} if optional else {})
    try:
        group.add_argument("--" + setting.name.replace("_", "-"), **options)
    except argparse.ArgumentError:
        raise UsageError(
            f"The setting {setting.name!r} of {attack} is also a flag of {prog}. Give the setting "
            "another name."
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


def open_target(
    args: argparse.Namespace,
    fields: Sequence[str] = ("text",),
    shape: tuple[int, int, int] | None = None,
    data_labels: Sequence[str] = (),
) -> Classifies | Translator:
    """Open the target that the command line names; a zoo model is trained if it is not yet."""
    from brittle.opening import as_target

    with console.training(args.quiet) as progress:
        about_data = {"fields": fields, "shape": shape, "data_labels": data_labels}
        return as_target(named_target(args, progress=progress, **about_data))


def named_target(args: argparse.Namespace, **options: Any) -> Target:
    """Return the target that the command line names, with its flags as options."""
    from brittle.targets.options import Target, TargetOptions

    names = (*flags_of(TargetOptions), "wanted_mask")
    flags = {name: getattr(args, name) for name in names if hasattr(args, name)}
    return Target.of(args.target, **flags, **options)


def open_run_target(run: Run, args: argparse.Namespace) -> Classifies | Translator:
    """Open the target that a run was made on, or the one that --target names."""
    stored = run.manifest.get("about_target")
    if args.target is None:
        if not stored:
            raise UsageError(
                f"The run {run.name!r} was made on a live object. Name a target with --target."
            )
        options = dict(stored)
        args.target = options.pop("spec")
        vars(args).update(options)
    else:
        args.wanted_mask = run.wanted_mask
        if args.answers == "auto":
            args.answers = run.answers_of(args.target)
    return open_target(args, run.fields, run.shape, run.manifest.get("labels") or ())
