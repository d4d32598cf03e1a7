"""The flags that all studies share, and how they are passed on: one set for the four commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import (
    add_backend_flags,
    add_data_flags,
    add_dry_run_flag,
    add_output_flags,
    load_data,
    positive,
)
from brittle.formatting import plural

if TYPE_CHECKING:
    from brittle.data.dataset import Dataset

POOL_HELP = "the models: pool:NAME, pool:FILE, or targets separated by commas"
USUAL = (
    *("data", "text", "label", "limit", "seed", "budget"),
    *("name", "new", "report", "dry-run", "workers", "json", "quiet"),
)
"""The flags of studies that `--help` shows; those of one study alone come after them."""


def add_pool(parser: argparse.ArgumentParser, help: str = POOL_HELP) -> None:
    """Add the argument that names the models of a study."""
    parser.add_argument("pool", metavar="POOL", help=help)


def add_study_flags(
    parser: argparse.ArgumentParser,
    *,
    limit: int,
    made_of: str,
    has_budget: bool = True,
    has_backend: bool = True,
    **changed: Any,
) -> None:
    """Add the flags of a study: its data, name and page, and where it runs.

    Its name is `made_of` some parts by default; `changed` are flags of the data that differ.
    """
    # Not set at all if it is not given, so that what is left out can be said.
    about = f"use the first N cases of a random order, or all (default: {limit:,})"
    cases = {"default": argparse.SUPPRESS, "help": about}
    parser.set_defaults(default_limit=limit)
    seed = "the seed of the random order and of the study (default: 0)"
    add_data_flags(parser, **({"limit": cases, "seed": seed} | changed))
    add = parser.add_argument_group("study").add_argument
    if has_budget:
        add("--budget", type=positive, metavar="N", help="ask at most N queries for each case")
    add("--name", help=f"the name of the study (default: made of {made_of})")
    add("--new", action="store_true", help="replace a study of this name that has other settings")
    add_dry_run_flag(add)
    add("--report", type=Path, metavar="FILE", help="write the page of the study, too")
    if has_backend:
        add_backend_flags(parser)
    add_output_flags(parser)


def load_study_data(args: argparse.Namespace) -> Dataset:
    """Load the data of a study; its limit becomes a number, and what it leaves out is said."""
    dataset = load_data(args)
    count = len(dataset)
    if not hasattr(args, "limit"):
        args.limit = args.default_limit
        if count > args.limit and not args.quiet:
            console.tell(
                f"--limit is not set: the study takes {args.limit:,} of "
                f"{plural(count, 'examples')}, in a random order. --limit all takes all of them."
            )
    args.limit = args.limit or count
    return dataset


def progress_of(args: argparse.Namespace) -> Callable[[str], None]:
    """Return what prints how far a study is, or nothing if it is to be quiet."""
    return (lambda message: None) if args.quiet else console.tell
