"""`brittle setup`: which optional parts are installed, and pip for those that are not."""

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


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("action", nargs="?", choices=("install",), help="install parts with pip")
    add("parts", nargs="*", metavar="PART", help="the parts to install, or all")
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.safety.parts import install, parts

    if args.action is None:
        found = parts()
        console.print_result(args, lambda: rows(found), lambda: block(found))
        return
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


COMMAND = Command(EXAMPLES, _add_flags, _run)
