"""What commands are made of: their form, and the flags that several of them share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One command: its examples, its flags, and the function that runs it.

    What it does stands in the table of commands (`commands/__init__.py`); a command of another
    package says it itself, in `help`.

    A command that can name an attack has `attack_words`: from the parsed arguments and the words
    that the parser does not know, it returns those that may be the name. The settings of that
    attack become flags, except `own_settings`, which the command has as flags already. A command
    that `resumes` goes on where it was stopped when it is called again. With `several_attacks` all
    of the words that name an attack count, else the first.
    """

    examples: str
    add_flags: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]
    attack_words: Callable[[argparse.Namespace, Sequence[str]], Sequence[str]] | None = None
    own_settings: tuple[str, ...] = ()
    resumes: bool = False
    several_attacks: bool = False
    help: str = ""


def add_target_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say how to open and ask a target."""
    from brittle.targets.options import TargetOptions
    from brittle.values import add_flags

    add_flags(parser.add_argument_group("target").add_argument, TargetOptions)


def add_goal_flag(add: Callable[..., object]) -> None:
    """Add the flag that names the goal."""
    goal = "what counts as adversarial (brittle list goals); several: all of them together"
    add("--goal", action="append", metavar="GOAL", help=goal)


def add_output_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every command has."""
    add = parser.add_argument_group("output").add_argument
    add("--runs", default="runs", metavar="FOLDER", help="the folder of the runs (default: runs)")
    add("--json", action="store_true", help="print JSON instead of tables")
    add("--quiet", action="store_true", help="print no progress and no tables")


def positive(text: str) -> int:
    """Parse a whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"got {text}; expected a number of at least 1")
    return number
