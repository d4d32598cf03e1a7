"""The parser of a command line: the command that is called with its flags, the others by name.

What is wrong with a command line is one message (`UsageError`), with the flag or the command that
was probably meant. What the parsers print as help stands in `help.py`.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

from brittle.cli.commands import (
    FORMER_COMMANDS,
    OWN_COMMANDS,
    CommandEntry,
    asked_command,
    command_names,
    commands,
    load_command,
)
from brittle.cli.help import HELP_ALL, HelpAll, HelpfulParser, first_example
from brittle.errors import UsageError, unknown
from brittle.formatting import listed
from brittle.redaction import visible

ELSEWHERE = {"--beam": "The beam of a translator stands behind its name, as in TARGET?beam=4. "}
"""Hints for flags that users expect but that are set elsewhere."""
_NEEDED = "the following arguments are required: "
COMMAND = "COMMAND"
_LEFT_OVER = "unrecognized arguments: "
_KINDS = {
    "int": "a whole number",
    "positive": "a whole number of at least 1",
    "count_or_all": "a whole number of at least 1, or all",
    "float": "a number",
}
MAX_FLAGS = 12
"""With more flags than that a command has `--help-all`, and `--help` shows the usual ones."""

MAX_NEAR = 4
"""A flag that is cut short is answered with so many that begin with it."""


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
    if flag in flags:
        return
    # No flag is abbreviated: a later one that begins in the same way would change what it means.
    longer = sorted(name for name in flags if name.startswith(flag))
    near = longer[:MAX_NEAR] or difflib.get_close_matches(flag, flags, n=1)
    hint = f"Did you mean {listed(near, 'or')}? " if near else ""
    hint = ELSEWHERE.get(flag, hint)
    settings = " Settings of an attack are flags only where the attack is named."
    raise UsageError(
        f"{parser.prog} has no flag {flag}. {hint}{parser.prog} {HELP_ALL} lists its flags."
        f"{settings if getattr(parser, 'takes_attack', False) else ''}"
    )


TARGETS = "{targets}"
"""Stands in the details of a command for the list of the kinds of targets."""


class _Parser(HelpfulParser):
    """A parser that raises what is wrong, in one sentence, and ends nothing.

    Names of files are shown as they are, whatever they hold.
    """

    def error(self, message: str) -> NoReturn:
        raise UsageError(visible(self._explain(message)))

    def _explain(self, message: str) -> str:
        if message == f"{_NEEDED}{COMMAND}":
            names = listed(command_names(self.prog.removeprefix("brittle ")), "or")
            return f"{self.prog} needs a command: {names}. {self.prog} --help explains them."
        if message.startswith(_NEEDED):
            needed = listed([_in_words(name) for name in message[len(_NEEDED) :].split(", ")])
            return f"{self.prog} needs {needed}, for example: {first_example(self)}"
        if message.startswith(_LEFT_OVER):
            left = message[len(_LEFT_OVER) :]
            return (
                f"{self.asked.prog} takes no further words, and got {left}. Put quotes around a "
                f"text with blanks. For example: {first_example(self.asked)}"
            )
        if wrong := re.match(r"argument ([^:\s]+)(?: \S+)?: (.*)", message, re.DOTALL):
            return self._explain_value(wrong[1].split("/")[0], wrong[2])
        return f"{self.prog}: {message}. {self.prog} --help explains it."

    def _explain_value(self, name: str, problem: str) -> str:
        place = f"{name} of {self.prog}"
        if problem.startswith("expected"):
            return f"{place} needs a value after it, and got none. {self.prog} --help explains it."
        if wrong := re.match(r"invalid (\w+) value: (.*)", problem, re.DOTALL):
            return f"{place}: got {wrong[2]}; expected {_KINDS.get(wrong[1], wrong[1])}."
        if wrong := re.match(r"invalid choice: (.*?) \(choose from", problem, re.DOTALL):
            choices = self._choices(name)
            near = difflib.get_close_matches(wrong[1].strip("'\""), choices, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            return f"{place}: got {wrong[1]}; expected {listed(choices, 'or')}.{hint}"
        return f"{place}: {problem}."

    def _choices(self, name: str) -> list[str]:
        """Return the choices of a flag, or of an argument by its metavar or name."""
        for action in self._actions:
            if name in (*action.option_strings, action.metavar, action.dest) and action.choices:
                return [str(choice) for choice in action.choices]
        return []


def _in_words(name: str) -> str:
    """Name a required argument: a flag as it is, others in words.

    >>> _in_words("ATTACK"), _in_words("--data"), _in_words("ATTACK,ATTACK"), _in_words("DATA")
    ('an attack', '--data', 'attacks', 'data')
    """
    if name.startswith("-"):
        return name
    first, comma, _ = name.lower().partition(",")
    if first == "data":
        return first
    return f"{first}s" if comma else f"{'an' if first[0] in 'aeiou' else 'a'} {first}"


def build_parser(words: Sequence[str]) -> _Parser:
    """Build the parser for a command line; an attack named there adds its settings as flags.

    Of all commands only the one that is called is imported and gets its flags.
    """
    asked = asked_command(words)
    parser = _Parser(
        prog="brittle",
        description="Find the inputs that break a text model, and measure how easily it breaks.",
    )
    parser.add_argument(HELP_ALL, action=HelpAll, help=argparse.SUPPRESS)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.set_defaults(command=None)
    subparsers = parser.add_subparsers(metavar=COMMAND, parser_class=_Parser)
    first = (asked or "").partition(" ")[0]
    # The commands of other packages are not looked up for one of our own.
    names = (
        [name for name in OWN_COMMANDS if " " not in name] if _is_own(first) else command_names()
    )
    for name in dict.fromkeys([*names, *([first] if _is_own(first) else [])]):
        entry = _entry(name)
        subparser = subparsers.add_parser(name, help=entry.help, description=_sentence(entry.help))
        if name == first:
            _complete(subparser, name, asked or "", words)
            parser.asked = subparser.asked
    return parser


def _is_own(name: str) -> bool:
    return name in OWN_COMMANDS or name in FORMER_COMMANDS


def _entry(name: str) -> CommandEntry:
    return FORMER_COMMANDS.get(name) or OWN_COMMANDS.get(name) or commands()[name]


def _sentence(help: str) -> str:
    return f"{help[0].upper()}{help[1:]}."


def _complete(parser: _Parser, name: str, asked: str, words: Sequence[str]) -> None:
    """Add to the parser of a command its flags, or its own commands if it is a group."""
    entry = _entry(name)
    if inner := command_names(name):
        is_required = not entry.home
        actions = parser.add_subparsers(
            metavar=COMMAND, required=is_required, parser_class=_Parser, help="one of these"
        )
        rest = asked.partition(" ")[2]
        for one in dict.fromkeys([*inner, *([rest] if rest else [])]):
            help = _entry(f"{name} {one}").help
            part = actions.add_parser(one, help=help, description=_sentence(help))
            if f"{name} {one}" == asked:
                _add_flags(part, asked, words)
                parser.asked = part
    if entry.home:
        _add_flags(parser, name, words)
    else:
        parser.add_argument(HELP_ALL, action=HelpAll, help=argparse.SUPPRESS)


def _add_flags(parser: _Parser, name: str, words: Sequence[str]) -> None:
    """Add the examples and the flags of a command, and the settings of an attack."""
    command = load_command(name)
    parser.examples, parser.details = command.examples, command.details
    if TARGETS in command.details:
        from brittle.targets.registry import describe_kinds, describe_translators

        kinds = f"{describe_kinds()}  ({describe_translators()})"
        parser.details = command.details.replace(TARGETS, kinds)
    parser.set_defaults(command=name)
    command.add_flags(parser)
    parser.usual = command.usual
    about = "show all flags, with all examples" if command.usual else argparse.SUPPRESS
    parser.add_argument(HELP_ALL, action=HelpAll, help=about)
    parser.takes_attack = command.attack_words is not None
    if command.attack_words is not None:
        from brittle.cli.attack_flags import add_setting_flags, named_attacks

        own = name.split()
        named = named_attacks(command, words[len(own) :]) if list(words[: len(own)]) == own else []
        add_setting_flags(parser, named, command)
        if named and parser.usual:
            parser.usual += command.own_settings


def command_parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield every command with all its flags, by its name: what a list of all flags reads."""
    for name, entry in commands().items():
        if not entry.home:
            continue
        parser: argparse.ArgumentParser = build_parser(name.split())
        for word in name.split():
            parser = commands_of(parser)[word]
        yield name, parser
