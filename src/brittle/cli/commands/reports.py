"""`brittle report`: a run or a study as a page, two runs side by side, or a run's model card."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, add_target_flags
from brittle.cli.commands.runs import RUN_HELP
from brittle.errors import UsageError
from brittle.safety.files import write_whole

if TYPE_CHECKING:
    from brittle.reports.page import Section
    from brittle.runs.run import Run

CARD_ENDING = ".md"
EXAMPLES = """\
examples:
  brittle report demo
  brittle report demo --out demo.html
  brittle report demo --out README.md        (the model card: figures, and what they rest on)
  brittle report old new --out change.html   (two runs side by side, and the cases that changed)
  brittle report small.study.json
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", metavar="RUN", nargs="+", help=f"{RUN_HELP.format('run or study')}; or two runs")
    out = "the file to write: .html for a page, .md for the model card (default: RUN.html in the "
    out += "folder of the runs)"
    add("--out", metavar="FILE", help=out)
    add("--nearest", action="store_true", help="add the nearest words of edited words")
    other = "the target that --nearest asks (default: the one that the run attacked)"
    add("--target", help=other)
    add_target_flags(parser)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.runs.run import open_run
    from brittle.studies.by_name import named_study

    if len(args.names) > 1:
        _report_two(args)
        return
    name = args.names[0]
    is_card = args.out is not None and Path(args.out).suffix == CARD_ENDING
    if (found := named_study(name, args.runs)) is not None:
        study, path = found
        if args.nearest or is_card:
            given = "--nearest" if args.nearest else f"--out with {CARD_ENDING}"
            raise UsageError(f"{given} is about a run, but {study.name!r} is a study.")
        console.print_path(args, study.report(args.out or path.with_suffix(".html")))
        return
    run = open_run(name, args.runs)
    if is_card:
        _write(args, Path(args.out), run.card())
        return
    sections: list[Section | None] = []
    if args.nearest:
        from brittle.cli.attack_flags import open_run_target
        from brittle.inside.nearest import nearest_words

        sections.append(nearest_words(run.results(), open_run_target(run, args)))
    console.print_path(args, run.report(args.out or run.path.with_suffix(".html"), sections))


def _report_two(args: argparse.Namespace) -> None:
    """Write the page of two runs side by side."""
    from brittle.reports.side_by_side import side_by_side_page
    from brittle.runs.run import open_run
    from brittle.studies.by_name import named_study

    if len(args.names) > 2:
        raise UsageError(
            f"brittle report takes one run or two, and got {len(args.names)}. brittle compare "
            "shows more of them."
        )
    for name in args.names:
        if named_study(name, args.runs) is not None:
            raise UsageError(
                f"{name!r} is a study, and only two runs can be side by side. brittle compare "
                "takes two studies."
            )
    if args.nearest:
        raise UsageError("--nearest is about one run. Leave it out, or name one run.")
    old, new = (open_run(name, args.runs) for name in args.names)
    out = Path(args.out) if args.out else _beside(old, new)
    if out.suffix == CARD_ENDING:
        raise UsageError(f"A model card is about one run. Got {args.out!r} and two runs.")
    _write(args, out, side_by_side_page(old, new))


def _beside(old: Run, new: Run) -> Path:
    return new.path.with_name(f"{old.name}-and-{new.name}.html")


def _write(args: argparse.Namespace, out: Path, text: str) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, text, errors="replace")
    console.print_path(args, out)


COMMAND = Command(EXAMPLES, _add_flags, _run, usual=("out", "nearest", "runs", "json", "quiet"))
