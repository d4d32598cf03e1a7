"""The flags that say where tasks run, and how many at a time: the fields of `Workers`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from brittle.cli.command import add_option_flags, parsed_options
from brittle.workflow.backends import Workers


def add_backend_flags(
    parser: argparse.ArgumentParser,
    *aliases: str,
    workers: str | None = None,
    default: int | None = None,
) -> None:
    """Add the flags of a command whose work can be divided.

    `aliases` are those of --workers, `workers` is its help where it counts no tasks.
    """
    count: dict[str, Any] = {"default": default} | ({"help": workers} if workers else {})
    add = parser.add_argument_group("where it runs").add_argument
    add_option_flags(add, Workers, aliases={"count": aliases}, count=count)


def backend_of(args: argparse.Namespace) -> Workers:
    """Return where the flags say that tasks run; on this machine one for each core, if not said."""
    from brittle.zoo.device import cores

    workers = parsed_options(args, Workers)
    if workers.count is None and workers.is_local:
        return replace(workers, count=cores())
    return workers
