"""`brittle setup`: make this machine ready for brittle.

It shows which optional parts are installed. `brittle setup install` has pip install those that are
not, and `brittle setup completion` prints the script with which a shell completes words.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.errors import UsageError

if TYPE_CHECKING:
    from brittle.safety.parts import OptionalPart

EXAMPLES = """\
examples:
  brittle setup                        what is installed, what is missing
  brittle setup install similarity     install one part
  brittle setup install all            install all that is missing

Packages of weights and native code are installed by their hashes, without their
dependencies; other packages follow with theirs. Nothing is installed before you
ask for it. pip's own settings hold: PIP_INDEX_URL, PIP_CONSTRAINT and so on.
"""


def _show(args: argparse.Namespace) -> None:
    from brittle.safety.parts import parts

    found = parts()
    console.print_result(args, lambda: rows(found), lambda: block(found))


def _add_install_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("parts", nargs="*", metavar="PART", help="the parts to install, or all")
    add_output_flags(parser)


def _install(args: argparse.Namespace) -> None:
    from brittle.safety.parts import install, parts

    if not args.parts:
        names = " ".join(part.name for part in parts() if not part.is_installed)
        raise UsageError(
            "brittle setup install needs the names of parts, or all. "
            + (f"Missing: {names}." if names else "Nothing is missing.")
        )
    report = (lambda line: None) if args.quiet else console.tell
    there = install(args.parts, report=report)
    lines = "\n".join(f"installed: {part.name} ({part.purpose})" for part in there)
    console.print_result(args, lambda: rows(there), lambda: lines)


def rows(parts: Sequence[OptionalPart]) -> list[dict[str, Any]]:
    """Return parts as plain data."""
    return [
        {
            "part": part.name,
            "installed": part.is_installed,
            "missing": list(part.missing),
            "purpose": part.purpose,
        }
        for part in parts
    ]


def block(parts: Sequence[OptionalPart]) -> Any:
    """Build the table of parts, with the command that installs those that are missing."""
    from rich.console import Group

    table = console.table(
        [
            {
                "part": part.name,
                "state": "installed" if part.is_installed else "missing",
                "for": part.purpose,
            }
            for part in parts
        ]
    )
    missing = [part.name for part in parts if not part.is_installed]
    if not missing:
        return Group(table, "\nAll parts are installed.")
    which = missing[0] if len(missing) == 1 else "PART…"
    return Group(table, f"\nInstall: brittle setup install {which} (or all)")


COMMAND = Command(EXAMPLES, add_output_flags, _show)
INSTALL = Command(EXAMPLES, _add_install_flags, _install)


SHELLS = ("bash", "zsh", "fish")
COMPLETION_EXAMPLES = """\
examples (once, then open a new shell):
  bash:  echo 'eval "$(brittle setup completion bash)"' >> ~/.bashrc
  zsh:   echo 'eval "$(brittle setup completion zsh)"' >> ~/.zshrc
         (after compinit; or write it to a file _brittle in your $fpath)
  fish:  brittle setup completion fish > ~/.config/fish/completions/brittle.fish

Then Tab completes commands, flags, attacks and their settings, models of the zoo, data sets, goals,
pools, runs and studies, and file names everywhere else.
"""


def _add_completion_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("shell", choices=SHELLS, help="the shell")
    add_output_flags(parser)
    # What the scripts call: the line before the cursor, and the end of it that bash replaces.
    add("--line", help=argparse.SUPPRESS)
    add("--replaced", default="", help=argparse.SUPPRESS)


def _complete(args: argparse.Namespace) -> None:
    from brittle.cli import console
    from brittle.cli.completion import complete, without_user_code
    from brittle.cli.former_names import current_words
    from brittle.cli.parser import build_parser
    from brittle.cli.shells import SCRIPTS, format_candidates, read_line

    if args.line is None:
        script = SCRIPTS[args.shell]
        if args.json:
            console.dump({"shell": args.shell, "script": script})
        elif not args.quiet:
            console.print_text(script)
        return
    words = current_words(read_line(args.line).words[1:] or ("",))[0]
    found = complete(build_parser(without_user_code(words[:-1])), words)
    console.print_text(format_candidates(found, args.shell, args.line, args.replaced))


COMPLETION = Command(COMPLETION_EXAMPLES, _add_completion_flags, _complete)
