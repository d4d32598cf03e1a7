"""`brittle show`: a run, one of its cases, a study, or what happens inside a run's target."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.attack_flags import open_run_target
from brittle.cli.command import Command, add_output_flags, add_target_flags, positive
from brittle.cli.commands.runs import RUN_HELP
from brittle.cli.console import shown
from brittle.errors import UsageError

if TYPE_CHECKING:
    from brittle.inside.measures import InsideRun
    from brittle.runs.run import Run

INSIDE_FLAGS = {"limit": None, "layer": None, "out": None, "target": None}
"""The flags of --inside, with their defaults on the command line."""
LIMIT, LAYER = 100, "first"
EXAMPLES = """\
examples:
  brittle show demo
  brittle show demo --all                   (all figures, and what they rest on)
  brittle show demo 7f3a                    (one case, with every step of its search)
  brittle show demo --inside --out in.html  (what the model attends to, before and after)
  brittle show small.study.json

The name of a run or a case can be shortened to its beginning. brittle report shows what --inside
found, too.
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help=RUN_HELP.format("run or study"))
    add("case", metavar="CASE", nargs="?", help="one case of the run, or the start of its name")
    add("--examples", type=int, default=5, metavar="N", help="show N examples (default: 5)")
    add("--all", action="store_true", help="show all figures, and what they rest on")
    inside = parser.add_argument_group("inside the target").add_argument
    look = "show attention and vectors in the target, before the attack and after it"
    inside("--inside", action="store_true", help=look)
    limit = f"with --inside: look at the first N broken cases (default: {LIMIT})"
    inside("--limit", type=positive, metavar="N", help=limit)
    layer = f"with --inside: the layer of attention: first, last or a number (default: {LAYER})"
    inside("--layer", help=layer)
    out = "with --inside: write a page (.html) or the figures (.json)"
    inside("--out", type=Path, metavar="FILE", help=out)
    other = "with --inside: the target to look into (default: the one that the run attacked)"
    inside("--target", help=other)
    add_target_flags(parser)
    add_output_flags(parser)


def _show(args: argparse.Namespace) -> None:
    from brittle.reports.summaries import summary_json
    from brittle.reports.terminal import run_block
    from brittle.runs.run import open_run
    from brittle.studies.by_name import named_study

    if args.inside:
        _show_inside(args)
        return
    given = next((n for n in INSIDE_FLAGS if getattr(args, n) is not None), None)
    if given is not None:
        raise UsageError(f"--{given} is for --inside. Add --inside, or leave out --{given}.")
    if (found := named_study(args.run, args.runs)) is not None:
        study = found[0]
        if args.case is not None:
            raise UsageError(
                f"{study.name!r} is a study, which has no cases. Leave out {args.case!r}."
            )
        console.print_result(args, study.summary, lambda: study.view(texts=args.examples).block())
        return
    run = open_run(args.run, args.runs)
    if args.case is not None:
        _show_case(args, run)
        return
    console.print_result(
        args, lambda: summary_json(run), lambda: run_block(run, args.examples, args.all)
    )


def _show_case(args: argparse.Namespace, run: Run) -> None:
    """Show one case: its text, how the search ended, and every improvement on the way."""
    from brittle.reports.attempts import attempts_block
    from brittle.reports.terminal import run_block
    from brittle.runs.run import Run as StoredRun

    row = _case(run, args.case)
    alone = StoredRun(run.path, [row.case])
    steps = alone.steps()
    is_text = run.manifest.get("kind", "text") == "text"
    console.print_result(
        args,
        lambda: _plain(row) | {"steps": [_plain(step) for step in steps]},
        lambda: attempts_block([(row, steps)]) if is_text else run_block(alone, 1),
    )


def _plain(row: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(row)


def _case(run: Run, name: str) -> Any:
    """Return the case of this name, or the one whose name begins so."""
    rows = run.results()
    chosen = [row for row in rows if row.case == name]
    chosen = chosen or [row for row in rows if row.case.startswith(name)]
    if len(chosen) > 1:
        names = ", ".join(row.case for row in chosen[:4])
        raise UsageError(f"{name!r} begins several cases: {names}. Write more of the name.")
    if not chosen:
        raise UsageError(
            f"The run {run.name!r} has no case whose name begins with {name!r}. brittle export "
            f"{run.name} cases.csv writes the names of all cases."
        )
    return chosen[0]


def _show_inside(args: argparse.Namespace) -> None:
    from brittle.inside.file import check_name, write_inside
    from brittle.inside.looking import broken_cases
    from brittle.inside.measures import inside_json
    from brittle.runs.run import open_run

    if args.out is not None:
        check_name(args.out, shown(args.out))
    run = open_run(args.run, args.runs)
    limit, layer = args.limit or LIMIT, args.layer or LAYER
    broken_cases(run, args.case, limit)  # says what is wrong before a model is loaded
    target = open_run_target(run, args)
    if target.fingerprint != run.manifest["fingerprint"] and not args.quiet:
        console.tell(f"warning: {target.name!r} is not the target that this run was made on")
    inside = run.inside(target, case=args.case, limit=limit, layer=layer)
    if args.out is not None:
        write_inside(inside, args.out)
    console.print_result(args, lambda: inside_json(inside), lambda: _block(inside, args))


def _block(inside: InsideRun, args: argparse.Namespace) -> Any:
    from rich.console import Console, Group

    from brittle.inside.section import case_block, run_block

    block = run_block(inside) if args.case is None else case_block(inside, Console().width)
    return block if args.out is None else Group(block, f"\n{shown(args.out)}")


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _show,
    usual=("examples", "all", "inside", "limit", "layer", "out", "runs", "json", "quiet"),
)
