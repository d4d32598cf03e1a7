"""`brittle validity`: how many adversarial examples are valid to people, and what that leaves."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.errors import UsageError

if TYPE_CHECKING:
    from brittle.runs.run import Run
    from brittle.validity.people import Answered

EXAMPLES = """\
examples:
  brittle validity demo answers-*.json              (from what people saved)
  brittle validity demo                             (what was measured; floors without people)
  brittle validity demo answers-*.json --judge zoo:BiLSTM-W-GloVe-1@mr
  brittle validity other --judge http:judge.toml --judge-pairs --calibration answers-*.json

brittle show and brittle report then print raw and valid success side by side.
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the name of a run, the start of it, or its file")
    add("files", metavar="FILE", nargs="*", type=Path, help="what people saved from their pages")
    meaning = "from which answer on, of 1 to 5, the meaning is kept (default: 4)"
    add("--meaning", type=int, default=4, metavar="N", help=meaning)
    natural = "from which answer on, of 1 to 5, a text is natural enough (default: 3)"
    add("--natural", type=int, default=3, metavar="N", help=natural)
    unfinished = "count files that are not finished, too"
    add("--unfinished", action="store_true", help=unfinished)
    judge = "a target that judges all broken cases; people say how often it errs"
    add("--judge", metavar="TARGET", help=judge)
    pairs = "the judge reads the fields original and adversarial, and answers valid or invalid"
    add("--judge-pairs", action="store_true", help=pairs)
    calibration = "files of people who read another run, to calibrate the judge (can be repeated)"
    add("--calibration", action="append", type=Path, default=[], metavar="FILE", help=calibration)
    floors = "measure the floors that need no people (default: unless they are known, or the "
    floors += "target is paid for)"
    add("--floors", action=argparse.BooleanOptionalAction, default=None, help=floors)
    other = "a classifier of another family, for the floors (default: one of the zoo)"
    add("--other", metavar="TARGET", help=other)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.metrics.summary import summary
    from brittle.reports.validity_terminal import validity_block, validity_json
    from brittle.runs.run import open_run

    run = open_run(args.run, args.runs)
    answered = _answered(args, run)
    is_standard = answered is None or answered.key.preset == "standard"
    table = [] if answered is None or is_standard else answered.table()
    measured = _measure(args, run) if is_standard else None
    remark = "" if answered is None else answered.questionnaire.remark
    floors = _floors(args, run)
    success = summary(run.results()).success
    title = run.name if answered is None else f"{run.name}, sample {answered.key.sample}"
    console.print_result(
        args,
        lambda: {"run": run.name} | validity_json(success, measured, floors, table),
        lambda: validity_block(title, success, measured, floors, table, remark),
    )


def _answered(args: argparse.Namespace, run: Run) -> Answered | None:
    from brittle.validity.people import read_files

    if not args.files:
        return None
    answered = read_files(run, args.files, args.unfinished)
    if answered.key.preset != "standard" and args.judge is not None:
        raise UsageError(
            f"The files are of the preset {answered.key.preset!r}, which gives no validity to hold "
            "a judge against. Leave out --judge."
        )
    return answered


def _measure(args: argparse.Namespace, run: Run) -> Any:
    return run.validity(
        *args.files,
        meaning=args.meaning,
        natural=args.natural,
        unfinished=args.unfinished,
        judge=args.judge,
        judge_pairs=args.judge_pairs,
        calibration=args.calibration,
    )


def _floors(args: argparse.Namespace, run: Run) -> Any:
    known = run.stored_floors
    if args.floors is False or (args.floors is None and known is not None and not args.other):
        return known
    return run.floors(other=args.other, costly=bool(args.floors))


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
)
