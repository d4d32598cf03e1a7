"""The flags that carry the finished tasks of a workflow to another machine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from brittle.cli import console
from brittle.cli.paths import shown
from brittle.formatting import plural

if TYPE_CHECKING:
    from brittle.workflow.tasks import Task


def add_carrying_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a command that is a workflow."""
    add = parser.add_argument_group("to another machine").add_argument
    pack = "write all finished tasks, with models and runs, into a file; nothing is run"
    add("--pack", metavar="FILE", help=pack)
    add("--unpack", metavar="FILE", help="add the finished tasks of such a file; nothing is run")


def carry(args: argparse.Namespace, tasks: Sequence[Task], folder: Path) -> bool:
    """Do what the flags ask for, and tell whether they asked for anything."""
    from brittle.workflow.carrying import pack, unpack

    if args.pack:
        names = pack(tasks, folder, Path(args.pack))
        packed = plural(len(tasks), "tasks")
        text = f"{args.pack}: {len(names)} of {packed} finished and packed."
        console.print_result(args, lambda: {"packed": names}, lambda: text)
    if args.unpack:
        unpacked = unpack(Path(args.unpack), folder)
        added = plural(len(unpacked.added), "tasks")
        text = f"{shown(folder)}: {added} added, {len(unpacked.there)} were there."
        if unpacked.refused:
            text += (
                f" Not added, since other results or files are in their place: "
                f"{', '.join(unpacked.refused)}. Unpack into another --folder and BRITTLE_CACHE."
            )
        console.print_result(args, lambda: vars(unpacked), lambda: text)
    return bool(args.pack or args.unpack)
