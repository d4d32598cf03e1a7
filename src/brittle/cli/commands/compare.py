"""`brittle compare`: runs side by side, and a gate for CI."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.errors import GateFailed, Incomplete, UsageError

if TYPE_CHECKING:
    from brittle.runs.run import Run

EXAMPLES = """\
examples:
  brittle compare before after
  brittle compare before after --fail-if-worse     (exit code 1 if accuracy under attack fell)
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", metavar="RUN", nargs="+", help="the names of the runs")
    add(
        "--fail-if-worse",
        action="store_true",
        help="exit with 1 if a later run's accuracy under attack is significantly lower",
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
    from brittle.runs.run import open_run

    runs = [open_run(name, args.runs) for name in args.names]
    if args.fail_if_worse and len(runs) < 2:
        raise UsageError("--fail-if-worse compares runs: name two or more.")
    console.print_result(
        args,
        lambda: comparison_json(runs, args.level),
        lambda: comparison_block(runs, args.level),
    )
    if args.fail_if_worse:
        _fail_if_worse(runs, args.level)


def _fail_if_worse(runs: Sequence[Run], level: float) -> None:
    """Raise if a later run has a significantly lower accuracy under attack than the first."""
    from brittle.metrics.paired import paired

    for run in runs:
        if not run.complete:
            raise Incomplete(f"The run {run.name!r} is not complete: nothing can be concluded.")
    first, *later = runs
    rows = first.results()
    for run in later:
        accuracy = paired(rows, run.results()).accuracy
        if accuracy.of == 0:
            raise UsageError(f"{run.name!r} shares no case with {first.name!r}: nothing to test.")
        fall = -(accuracy.difference or 0.0)
        if fall > 0 and accuracy.is_significant(level):
            raise GateFailed(
                f"{run.name!r} is worse than {first.name!r}: accuracy under attack fell by "
                f"{100 * fall:.1f} points over {accuracy.of} shared cases "
                f"(McNemar's exact test: p = {accuracy.p:.3g}, below {level:g})."
            )


COMMAND = Command(
    "show runs side by side, each paired with the first one", EXAMPLES, _add_flags, _run
)
