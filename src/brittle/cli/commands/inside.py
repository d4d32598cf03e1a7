"""`brittle inside`: attention and vectors inside a target, before an attack and after it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, add_target_flags, positive
from brittle.cli.paths import shown
from brittle.cli.targets import open_run_target

if TYPE_CHECKING:
    from brittle.metrics.inside import InsideRun

EXAMPLES = """\
examples:
  brittle inside demo                       (means over the broken cases of a run)
  brittle inside demo 7f3a --layer last     (one case, by its name or the start of it)
  brittle inside demo --limit 20 --out inside.html

What is seen is kept beside the run, in NAME.inside.json; brittle report shows it.
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the name of a run, the start of it, or its file")
    add("case", metavar="CASE", nargs="?", help="one broken case, by its name or the start of it")
    limit = "look at the first N broken cases (default: 100)"
    add("--limit", type=positive, default=100, metavar="N", help=limit)
    layer = "whose attention to show: first, last, or a number from 1 (default: first)"
    add("--layer", default="first", help=layer)
    add("--out", type=Path, metavar="FILE", help="write a page (.html) or the figures (.json)")
    add("--target", help="another target than the run's own")
    add_target_flags(parser)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.metrics.inside import inside_json
    from brittle.runs.inside import broken_cases
    from brittle.runs.inside_file import check_name, write_inside
    from brittle.runs.run import open_run

    if args.out is not None:
        check_name(args.out, shown(args.out))
    run = open_run(args.run, args.runs)
    broken_cases(run, args.case, args.limit)  # says what is wrong before a model is loaded
    target = open_run_target(run, args)
    if target.fingerprint != run.manifest["fingerprint"] and not args.quiet:
        console.tell(f"warning: {target.name!r} is not the target that this run was made on")
    inside = run.inside(target, case=args.case, limit=args.limit, layer=args.layer)
    if args.out is not None:
        write_inside(inside, args.out)
    console.print_result(args, lambda: inside_json(inside), lambda: _block(inside, args))


def _block(inside: InsideRun, args: argparse.Namespace) -> Any:
    from rich.console import Console, Group

    from brittle.reports.inside_terminal import case_block, run_block

    block = run_block(inside) if args.case is None else case_block(inside, Console().width)
    return block if args.out is None else Group(block, f"\n{shown(args.out)}")


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
)
