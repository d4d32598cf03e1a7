"""How commands that make studies end: the page, the figures, the file, and which members failed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.paths import shown
from brittle.errors import Incomplete
from brittle.formatting import plural

if TYPE_CHECKING:
    from brittle.studies.study import Study


def print_made_study(args: argparse.Namespace, study: Study[Any, Any], **options: Any) -> None:
    """Write the page of a study if it is asked for, and print the study.

    `options` are those of its kind. A member that failed makes the command incomplete.
    """
    from rich.console import Group

    from brittle.studies.study import SUFFIX

    file = shown(Path(args.runs) / f"{study.name}{SUFFIX}")
    if args.report:
        study.report(args.report)
    console.print_result(
        args,
        lambda: {"file": file, **study.summary(**options)},
        lambda: Group(study.view(**options).block(), f"\nStudy: {file}"),
    )
    if study.failures:
        raise Incomplete(failed_members(study.failures, with_reasons=args.quiet))


def failed_members(failures: Mapping[str, str], with_reasons: bool) -> str:
    """Name the members that failed; their reasons stand with the tables, unless those are off."""
    their, them = ("its", "it") if len(failures) == 1 else ("their", "them")
    lines = [f"  {name}: {why}" if with_reasons else f"  {name}" for name, why in failures.items()]
    members = plural(len(failures), ("member", "members"))
    return "\n".join(
        [
            f"{members} of the pool failed, and {their} cells are empty:",
            *lines,
            f"The same command tries {them} again; or leave {them} out of the pool.",
        ]
    )
