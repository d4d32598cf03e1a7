"""`brittle compare`: runs side by side, and a gate for CI."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.errors import UsageError

if TYPE_CHECKING:
    from brittle.studies.study import Study

EXAMPLES = """\
examples:
  brittle compare before after
  brittle compare before after --fail-if-worse     (exit code 1 if accuracy under attack fell)
  brittle compare pwws.study.json genetic.study.json
  brittle compare digits.study.json digits-refined.study.json       (two robustness studies)
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", metavar="RUN", nargs="+", help="the names of the runs, or of studies")
    add(
        "--fail-if-worse",
        action="store_true",
        help="exit with 1 if a later run's accuracy under attack is significantly lower, or, of "
        "translators, its attack success significantly higher",
    )
    level = "the level of McNemar's exact test, which decides (default: 0.05)"
    add("--level", type=_level, default=0.05, help=level)
    add_output_flags(parser)


def _level(text: str) -> float:
    level = float(text)
    if not 0 < level < 1:
        raise argparse.ArgumentTypeError(f"got {text}; expected a number between 0 and 1")
    return level


def _run(args: argparse.Namespace) -> None:
    from brittle.reports.comparison import comparison_block
    from brittle.reports.summaries import comparison_json
    from brittle.runs.gate import check_several, require_no_worse
    from brittle.runs.run import open_run
    from brittle.studies.by_name import named_study

    studies = [named_study(name, args.runs) for name in args.names]
    if any(studies):
        for name, found in zip(args.names, studies):
            if found is None:
                open_run(name, args.runs)  # a name that is nobody's is an error of its own
                raise UsageError(
                    f"{name!r} is a run, and others are studies. Compare studies with studies, and "
                    "runs with runs."
                )
        _compare_studies(args, [found[0] for found in studies if found is not None])
        return
    runs = [open_run(name, args.runs) for name in args.names]
    if args.fail_if_worse:
        check_several(runs)
    console.print_result(
        args,
        lambda: comparison_json(runs, args.level),
        lambda: comparison_block(runs, args.level),
    )
    if args.fail_if_worse:
        require_no_worse(runs, args.level)


def _compare_studies(args: argparse.Namespace, studies: Sequence[Study[Any, Any]]) -> None:
    from brittle.studies.by_name import compare_studies

    if args.fail_if_worse:
        raise UsageError("--fail-if-worse is about runs: leave it out.")
    rows, block = compare_studies(studies)
    console.print_result(args, lambda: rows, lambda: block)


COMMAND = Command(EXAMPLES, _add_flags, _run)
