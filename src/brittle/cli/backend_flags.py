"""The flags that say where tasks run, and how many at a time."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from brittle.cli.command import positive

if TYPE_CHECKING:
    from brittle.workflow.backends import Workers


TASKS = "tasks run at the same time (default: one for each core; ray: of the cluster)"


def add_backend_flags(
    parser: argparse.ArgumentParser, *aliases: str, workers: str = TASKS, default: int | None = None
) -> None:
    """Add the flags of a command whose work can be divided; `aliases` are those of --workers."""
    add = parser.add_argument_group("where it runs").add_argument
    flags = ("--workers", *aliases)
    add(*flags, type=positive, dest="workers", metavar="N", default=default, help=workers)
    backend = "processes of this machine, or a Ray cluster (default: local)"
    add("--backend", choices=("local", "ray"), default="local", help=backend)
    address = "ray: HOST:PORT of a cluster, or auto (default: a local one is started)"
    add("--address", metavar="HOST:PORT", help=address)


def backend_of(args: argparse.Namespace) -> Workers:
    """Return where the flags say that tasks run."""
    from brittle.workflow.backends import Workers
    from brittle.zoo.device import cores

    is_local = args.backend == "local"
    return Workers(args.backend, args.workers or (cores() if is_local else None), args.address)
