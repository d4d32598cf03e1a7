"""`brittle inside`: attention and vectors inside a target, before an attack and after it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, add_target_flags, positive
from brittle.cli.paths import shown
from brittle.cli.targets import open_run_target
from brittle.errors import UsageError
from brittle.files import write_whole

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
    from brittle.runs.inside import broken_cases
    from brittle.runs.run import open_run

    if args.out is not None and args.out.suffix not in (".html", ".json"):
        raise UsageError(
            f"Got --out {shown(args.out)}; expected a file that ends in .html or .json."
        )
    run = open_run(args.run, args.runs)
    broken_cases(run, args.case, args.limit)  # says what is wrong before a model is loaded
    target = open_run_target(run, args)
    if target.fingerprint != run.manifest["fingerprint"] and not args.quiet:
        console.tell(f"warning: {target.name!r} is not the target that this run was made on")
    inside = run.inside(target, case=args.case, limit=args.limit, layer=args.layer)
    if args.out is not None:
        _write(inside, args.out)
    console.print_result(args, lambda: _json(inside), lambda: _block(inside, args))


def _block(inside: InsideRun, args: argparse.Namespace) -> Any:
    from rich.console import Console, Group

    from brittle.reports.inside_terminal import case_block, run_block

    block = run_block(inside) if args.case is None else case_block(inside, Console().width)
    return block if args.out is None else Group(block, f"\n{shown(args.out)}")


def _json(inside: InsideRun) -> dict[str, Any]:
    from brittle.metrics.inside import change_by_distance, relative_change

    changes = change_by_distance(inside.cases, inside.layers)
    means = {
        layer: {str(distance): asdict(figure) for distance, figure in figures.items()}
        for layer, figures in changes.items()
    }
    figure = asdict(relative_change(inside.cases))
    return {**asdict(inside), "relative": figure, "change_by_distance": means}


def _write(inside: InsideRun, out: Path) -> None:
    import json

    from brittle.reports.inside import inside_section
    from brittle.reports.page import still_page

    text = json.dumps(_json(inside), indent=2, ensure_ascii=False) + "\n"
    if out.suffix == ".html":
        text = still_page(f"{inside.run}: inside", [inside_section(inside)])
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, text, errors="replace")


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
)
