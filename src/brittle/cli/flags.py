"""The flags of a parser, and which of them a misspelt word probably means."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence

from brittle.errors import UsageError, unknown

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
