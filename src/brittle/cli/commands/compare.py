"""`brittle compare`: runs side by side, and a gate for CI."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.errors import GateFailed, Incomplete, UsageError
from brittle.formatting import plural

if TYPE_CHECKING:
    from brittle.cli.studies import Study
    from brittle.runs.run import Run

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
    from brittle.cli.studies import named_study
    from brittle.reports.comparison import comparison_block
    from brittle.reports.summaries import comparison_json
    from brittle.runs.run import open_run

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
    if args.fail_if_worse and len(runs) < 2:
        raise UsageError("--fail-if-worse compares runs: name two or more.")
    console.print_result(
        args,
        lambda: comparison_json(runs, args.level),
        lambda: comparison_block(runs, args.level),
    )
    if args.fail_if_worse:
        _fail_if_worse(runs, args.level)


def _compare_studies(args: argparse.Namespace, studies: Sequence[Study]) -> None:
    from brittle.cli.studies import as_transfer
    from brittle.reports.robustness_comparison import robustness_side_by_side
    from brittle.reports.studies.comparison import studies_block, studies_json
    from brittle.studies.robustness.showing import reported
    from brittle.studies.robustness.study import RobustnessStudy
    from brittle.studies.transfer.showing import reported_study

    if args.fail_if_worse:
        raise UsageError("--fail-if-worse is about runs: leave it out.")
    measured = [study for study in studies if isinstance(study, RobustnessStudy)]
    if len(measured) == len(studies):
        summaries = [study.summary() for study in measured]
        beside = robustness_side_by_side(list(map(reported, measured)))
        console.print_result(args, lambda: summaries, lambda: beside)
        return
    tables = [reported_study(as_transfer(study)) for study in studies]
    console.print_result(args, lambda: studies_json(tables), lambda: studies_block(tables))


def _fail_if_worse(runs: Sequence[Run], level: float) -> None:
    """Raise if a later run is significantly worse than the first.

    Worse is a lower accuracy under attack. Translators have none: of them it is a higher success.
    """
    from brittle.metrics.paired import paired
    from brittle.reports.summary_lines import answers_texts

    for run in runs:
        if not run.complete:
            raise Incomplete(f"The run {run.name!r} is not complete: nothing can be concluded.")
    first, *later = runs
    rows, translates = first.results(), answers_texts(first.manifest)
    for run in later:
        if answers_texts(run.manifest) != translates:
            raise UsageError(
                f"Of {first.name!r} and {run.name!r} only one is about a translator: nothing to "
                "test. Compare translators with translators, and classifiers with classifiers."
            )
        pair = paired(rows, run.results())
        contrast, what = pair.accuracy, "accuracy under attack fell"
        if translates:
            contrast, what = pair.success, "attack success rose"
        if contrast.of == 0:
            raise UsageError(_nothing_to_test(run, first, pair.shared, translates))
        worse = (contrast.difference or 0.0) * (1 if translates else -1)
        if worse > 0 and contrast.is_significant(level):
            raise GateFailed(
                f"{run.name!r} is worse than {first.name!r}: {what} by "
                f"{100 * worse:.1f} points over {plural(contrast.of, 'shared cases')} "
                f"(McNemar's exact test: p = {contrast.p:.3g}, below {level:g})."
            )


def _nothing_to_test(run: Run, first: Run, shared: int, translates: bool) -> str:
    if not shared:
        return f"{run.name!r} shares no case with {first.name!r}: nothing to test."
    done = "attacked" if translates else "answered"
    return (
        f"{run.name!r} shares {plural(shared, 'cases')} with {first.name!r}, but none of them was "
        f"{done} in both: nothing to test."
    )


COMMAND = Command(EXAMPLES, _add_flags, _run)
