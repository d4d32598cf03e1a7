"""Write the parts of the docs that are made from the code.

    python scripts/write_reference.py

writes docs/reference/commands.md from the parser of the command line, the settings of the attacks
into docs/reference/attacks.md, between its marks, and docs/papers/coverage.md from the papers'
paper.toml. tests/test_docs_reference.py and tests/papers/test_coverage.py fail while one of them is
stale.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from brittle.attacks import ATTACKS, Setting, recipe, settings
from brittle.cli.command import Command
from brittle.cli.commands import commands, load_command
from brittle.cli.parser import command_parsers
from brittle_papers.coverage import build_coverage

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
COMMANDS, ATTACKS_PAGE = REFERENCE / "commands.md", REFERENCE / "attacks.md"
COVERAGE = REFERENCE.parent / "papers" / "coverage.md"
OPENING = "<!-- settings: scripts/write_reference.py writes what stands below -->"
CLOSING = "<!-- end of settings -->"
EXAMPLES = 1
"""So many examples of a command are on its page; its help has the others."""
SHARED_BY = 2
"""A flag that means the same in so many commands is explained once."""
EVERYWHERE = ("--runs", "--json", "--quiet")
EVERY_COMMAND = (
    "Every command has `--runs`, `--json` and `--quiet`. The others mean the same in every command "
    "that has them."
)
HEAD = """# Commands

This page lists every command with its flags. `brittle COMMAND --help` prints the usual \
ones, `--help-all` all of them. \
`scripts/write_reference.py` writes this page from the code, so it is complete.

{contents}

The settings of an attack, such as `--share`, are flags too: [attacks](attacks.md#settings) lists \
them. A flag may be shortened as long as it stays clear: `--lim` is `--limit`.

To complete commands, flags and names of runs by Tab, add one line to the file of your shell, then \
open a new shell:

```text
bash:  echo 'eval "$(brittle setup completion bash)"' >> ~/.bashrc
zsh:   echo 'eval "$(brittle setup completion zsh)"' >> ~/.zshrc      (after compinit)
fish:  brittle setup completion fish > ~/.config/fish/completions/brittle.fish
```

## Exit codes

| code | meaning | what a script should do |
|---|---|---|
| 0 | everything worked | go on |
| 1 | a check failed: `gate` or `compare --fail-if-worse` found a worse model, or `verify` found a \
text that no longer breaks the target | fail, and keep the report |
| 2 | the command is wrong, or a file cannot be read; nothing was done | fail; the message says \
what to change |
| 3 | the work is not complete: the target failed, or a limit was reached | run the same command \
again: it resumes |
| 4 | `gate` cannot tell with so few cases; the message says how many are needed | warn, or fail: \
`gate --strict` ends with 1 instead |
| 130 | you interrupted it | run the same command again: it resumes |
"""


@dataclass(frozen=True)
class FlagRow:
    """A flag or an argument as the page shows it."""

    written: str
    help: str

    @property
    def name(self) -> str:
        """The flag without what it takes."""
        return self.written.split()[0].strip("`,")

    def __str__(self) -> str:
        return f"- {self.written}: {plain(self.help)}"


@dataclass(frozen=True)
class CommandPart:
    """A command, also of a group, as `rules mine`."""

    name: str
    help: str
    arguments: tuple[FlagRow, ...]
    flags: tuple[FlagRow, ...]


def plain(text: str) -> str:
    """Keep what is written for a terminal from being read as markup."""
    return re.sub(r"([<*\[\]{}])", r"\\\1", " ".join(text.split()))


def command_parts() -> Iterator[CommandPart]:
    """Yield every command."""
    for name, parser in command_parsers():
        rows = [(action, flag_row(action)) for action in parser._actions if is_shown(action)]
        yield CommandPart(
            name,
            commands()[name].help,
            tuple(row for action, row in rows if not action.option_strings),
            tuple(row for action, row in rows if action.option_strings),
        )


def is_shown(action: argparse.Action) -> bool:
    """Tell whether a flag is one for people: not --help, and none without a word about it."""
    is_help = any(flag in action.option_strings for flag in ("--help", "--help-all"))
    return not is_help and action.help != argparse.SUPPRESS


def flag_row(action: argparse.Action) -> FlagRow:
    """Write a flag with what it takes, and its help."""
    help_text = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    if not action.option_strings:
        return FlagRow(f"`{action.metavar or action.dest}`", help_text)
    names = [name for name in action.option_strings if not name.startswith("--no-")]
    takes = "" if action.nargs == 0 else f" {metavar_of(action)}"
    written = ", ".join(f"`{name}{takes}`" for name in names or action.option_strings)
    if isinstance(action, argparse.BooleanOptionalAction):
        written += f", `{action.option_strings[-1]}`"
    return FlagRow(written, help_text)


def metavar_of(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def shared_flags(parts: Sequence[CommandPart]) -> list[FlagRow]:
    """Return the flags that mean the same in several commands: for each, its most common row."""
    times = Counter(row for part in parts for row in part.flags)
    common: dict[str, FlagRow] = {}
    for row, count in times.most_common():
        if count >= SHARED_BY:
            common.setdefault(row.name, row)
    return sorted(common.values(), key=lambda row: row.name)


def examples_of(command: Command) -> str:
    """Return the first examples of a command, a line each, without the words around them."""
    lines = []
    for block in command.examples.split("\n\n"):
        first, *rest = block.strip("\n").splitlines()
        if first.startswith("example"):
            lines += [line.strip() for line in rest]
    return "\n".join(lines[:EXAMPLES])


def section(part: CommandPart, shared: Sequence[FlagRow]) -> str:
    """Write the section of a command."""
    lines = [f"## brittle {part.name}", "", f"{part.help[0].upper()}{part.help[1:]}.", ""]
    if examples := examples_of(load_command(part.name)):
        lines += ["```text", examples, "```", ""]
    rows = [*part.arguments, *(row for row in part.flags if row not in shared)]
    if rows:
        lines += [*map(str, rows), ""]
    common = [f"`{row.name}`" for row in part.flags if row in shared and row.name not in EVERYWHERE]
    if common:
        also = "It also takes" if rows else "It takes"
        lines += [f"{also} these [shared flags](#shared-flags): {', '.join(common)}.", ""]
    return "\n".join(lines)


def commands_page() -> str:
    """Write the page of the commands."""
    parts = list(command_parts())
    shared = shared_flags(parts)
    links = [f"[`{part.name}`](#brittle-{part.name.replace(' ', '-')})" for part in parts]
    page = [HEAD.format(contents=f"{', '.join(links)}.")]
    page += ["## Shared flags", "", EVERY_COMMAND, ""]
    page += [*map(str, shared), ""]
    page += [section(part, shared) for part in parts]
    return "\n".join(page).rstrip() + "\n"


def setting_row(setting: Setting) -> str:
    """Write a setting with its default."""
    flag = f"--{setting.name.replace('_', '-')}"
    written, default = f"`{flag}`", "" if setting.default is None else f"{setting.default}"
    if setting.kind is bool:
        written += f", `--no-{flag.removeprefix('--')}`"
        default = "yes" if setting.default else "no"
    value = "needed" if setting.required else default and f"default {default}"
    return f"- {written}{value and f' ({value})'}: {plain(setting.help)}"


def settings_block() -> str:
    """Write the settings of all attacks; those of candidates, which many share, stand once."""
    rows = {name: [setting_row(one) for one in settings(recipe(name))] for name in ATTACKS}
    times = Counter(row for own in rows.values() for row in own)
    common_rows: dict[str, str] = {}
    for row, count in times.most_common():
        if count >= SHARED_BY:
            common_rows.setdefault(row.split("`")[1], row)
    shared = sorted(common_rows.values())
    lines = ["Settings that several attacks share:", "", *shared, ""]
    for name, own in rows.items():
        lines += [f"### {name}", ""]
        single = [row for row in own if row not in shared]
        if single:
            lines += [*single, ""]
        common = ", ".join(f"`{row.split('`')[1]}`" for row in own if row in shared)
        if common:
            lines += [f"{'Also' if single else 'Settings'}, as above: {common}.", ""]
        if not own:
            lines += ["It has no settings.", ""]
    return "\n".join(lines)


def with_settings(page: str) -> str:
    """Return the page of the attacks with these settings between its marks."""
    before, _, rest = page.partition(OPENING)
    _, _, after = rest.partition(CLOSING)
    if not rest or not page.count(CLOSING):
        sys.exit(f"{ATTACKS_PAGE.name} has no place for the settings: {OPENING} … {CLOSING}.")
    return f"{before}{OPENING}\n{settings_block()}{CLOSING}{after}"


def main() -> None:
    COMMANDS.write_text(commands_page(), "utf-8")
    ATTACKS_PAGE.write_text(with_settings(ATTACKS_PAGE.read_text("utf-8")), "utf-8")
    COVERAGE.write_text(build_coverage(COVERAGE.parent), "utf-8")
    print(
        f"{COMMANDS.name} and {ATTACKS_PAGE.name} in {REFERENCE.name}/, {COVERAGE.name} in papers/"
    )


if __name__ == "__main__":
    main()
