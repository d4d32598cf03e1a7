"""What `--help` prints: one screen for brittle, the usual flags of a command, or all of them.

`brittle --help` is made from the table of commands. The help of a command has its examples before
its flags: most readers look for a line that they can copy.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from brittle.cli.commands import HEADINGS, commands

HELP_ALL = "--help-all"
SETTINGS = "settings of "
"""The heading of a group of flags begins so if they are settings of a named attack."""
MAX_WIDTH = 100
COLUMNS = (8, 10)
"""The widths of the columns of headings and of names in `brittle --help`."""


class HelpfulParser(argparse.ArgumentParser):
    """A parser with examples, which prints the `usual` flags unless it is asked for all.

    `details` are further examples and notes, which stand at the end where all is printed. With no
    `usual` flags all are usual.
    """

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", _Formatter)
        options.setdefault("allow_abbrev", False)
        super().__init__(**options)
        self.examples = ""
        self.details = ""
        self.usual: tuple[str, ...] = ()
        self.asked: HelpfulParser = self
        self.takes_attack = False

    def format_help(self) -> str:
        """Format the usual flags, or the commands of brittle or of a group."""
        if self.prog == "brittle":
            return overview()
        return self._format(self._usual_actions())

    def format_help_all(self) -> str:
        """Format all flags, with all examples and notes."""
        if self.prog == "brittle":
            return overview()
        return self._format(self._actions)

    def _usual_actions(self) -> list[argparse.Action]:
        named = [f"--{name}" for name in self.usual]
        settings = [g for g in self._action_groups if (g.title or "").startswith(SETTINGS)]
        always = {id(action) for group in settings for action in group._group_actions}
        return [
            action
            for action in self._actions
            if not self.usual
            or not action.option_strings
            or action.required
            or id(action) in always
            or is_help(action)
            or set(action.option_strings) & set(named)
        ]

    def _format(self, actions: Sequence[argparse.Action]) -> str:
        is_whole = len(actions) == len(self._actions)
        formatter = self._get_formatter()
        parts = [f"usage: {self._usage()}", self.description or ""]
        for title, shown in self._sections(actions, is_whole):
            formatter.start_section(title)
            formatter.add_arguments(shown)
            formatter.end_section()
        # The positional arguments, then the examples, then the flags.
        flags = formatter.format_help().strip("\n")
        own_details = self.details if is_whole or not self.usual else ""
        blocks = [*parts, _reflowed(self.examples), flags, _reflowed(own_details)]
        return "\n\n".join(block for block in blocks if block) + "\n"

    def _sections(
        self, actions: Sequence[argparse.Action], is_whole: bool
    ) -> Iterator[tuple[str, list[argparse.Action]]]:
        """Yield headings with their flags; the usual flags stand under one heading."""
        sections: dict[str, list[argparse.Action]] = {}
        for group in self._action_groups:
            title = group.title or ""
            is_apart = is_whole or title.startswith(SETTINGS) or title in _TITLES
            title = _TITLES.get(title, title) if is_apart else _TITLES["options"]
            sections.setdefault(title, []).extend(a for a in group._group_actions if a in actions)
        flags = sections.get(_TITLES["options"], [])
        flags.sort(key=is_help)
        yield from ((title, shown) for title, shown in sections.items() if shown)

    def _usage(self) -> str:
        words = [self.prog]
        words += [_word(action) for action in self._actions if not action.option_strings]
        flags = [action for action in self._actions if action.option_strings]
        words += [f"{a.option_strings[-1]} {_metavar(a)}" for a in flags if a.required]
        has_more = any(not is_help(flag) and not flag.required for flag in flags)
        return " ".join([*words, "[FLAGS]"] if has_more else words)


def _reflowed(text: str) -> str:
    """Wrap paragraphs to the terminal; lines that are indented, and headings, stay."""
    width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
    blocks = []
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        is_prose = not any(line.startswith(" ") for line in lines)
        parts = [" ".join(lines)] if is_prose else lines
        blocks.append("\n".join(_fitted(part, width) for part in parts))
    return "\n\n".join(blocks)


def _fitted(line: str, width: int) -> str:
    """Wrap a line below its second column; a command stays whole, to be copied."""
    columns = re.match(r"( *)(\S+ {2,})?", line)
    if line.startswith("  brittle ") or columns is None:
        return line
    return textwrap.fill(line, width, subsequent_indent=" " * columns.end(), break_on_hyphens=False)


def is_help(action: argparse.Action) -> bool:
    """Tell whether a flag asks for help."""
    return bool({"--help", HELP_ALL} & set(action.option_strings))


_TITLES = {"positional arguments": "arguments", "options": "flags"}


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Names and help in two columns, at most MAX_WIDTH wide."""

    def __init__(self, prog: str) -> None:
        width = min(shutil.get_terminal_size().columns, MAX_WIDTH) - 2
        super().__init__(prog, max_help_position=26, width=width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        # Names such as tack-on are not broken at their hyphen.
        return textwrap.wrap(text, width, break_on_hyphens=False)


class HelpAll(argparse.Action):
    """Print all flags of a command, and exit."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        assert isinstance(parser, HelpfulParser)
        parser._print_message(parser.format_help_all(), sys.stdout)
        parser.exit()


def _word(action: argparse.Action) -> str:
    name = _metavar(action)
    forms = {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …"}
    return forms.get(str(action.nargs), name)


def _metavar(action: argparse.Action) -> str:
    if action.metavar is not None:
        return str(action.metavar)
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    return action.dest.upper()


def first_example(parser: HelpfulParser) -> str:
    """Return the first line among a parser's examples that can be typed."""
    for line in f"{parser.examples}\n{parser.details}".splitlines():
        command = line.strip().removeprefix("example: ")
        if command.startswith("brittle "):
            return command.partition("   ")[0].strip()
    return f"{parser.prog} --help"


def overview() -> str:
    """Format what `brittle --help` prints: all commands on one screen, by heading."""
    lines = [
        "usage: brittle COMMAND …   (brittle COMMAND --help explains it)",
        "Find the inputs that break a text model, and measure how easily it breaks.",
        "",
    ]
    width = min(shutil.get_terminal_size().columns, MAX_WIDTH) - sum(COLUMNS)
    for heading in HEADINGS:
        rows = [(n, e.help) for n, e in commands().items() if e.heading == heading]
        for number, (name, about) in enumerate(rows):
            lines += _row(heading if number == 0 else "", name, about, max(20, width))
    lines += [
        "Start with: brittle attack zoo:naive-bayes@mr auto --data mr --limit 100",
    ]
    return "\n".join(lines) + "\n"


def _row(heading: str, name: str, about: str, width: int) -> list[str]:
    """Format one command in three columns; a long text goes on in the third."""
    first, *more = textwrap.wrap(about, width) or [""]
    left = f"{heading:<{COLUMNS[0]}}{name:<{COLUMNS[1]}}"
    return [f"{left}{first}".rstrip(), *(" " * sum(COLUMNS) + line for line in more)]
