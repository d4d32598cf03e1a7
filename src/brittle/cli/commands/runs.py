"""`brittle show`, `report`, `export` and `verify`: what is done with one stored run."""

from __future__ import annotations

import argparse

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, add_target_flags
from brittle.cli.targets import open_run_target
from brittle.errors import GateFailed

MAX_FAILURES_SHOWN = 20


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run's name, the start of it, or its file")
    add_output_flags(parser)


def _add_show_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--examples", type=int, default=5, metavar="N", help="show N examples (default: 5)")
    _add_run(parser)


def _show(args: argparse.Namespace) -> None:
    from brittle.reports.summaries import summary_json
    from brittle.reports.terminal import run_block
    from brittle.runs.run import open_run

    run = open_run(args.run, args.runs)
    console.print_result(args, lambda: summary_json(run), lambda: run_block(run, args.examples))


def _add_report_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--out", metavar="FILE", help="the file to write (default: beside the run, with .html)")
    add("--nearest", action="store_true", help="add the nearest words of edited words")
    add("--target", help="for --nearest: another target than the run's own")
    add_target_flags(parser)
    _add_run(parser)


def _report(args: argparse.Namespace) -> None:
    from brittle.runs.run import open_run

    run = open_run(args.run, args.runs)
    sections = []
    if args.nearest:
        from brittle.cli.commands.nearest import nearest_words

        sections.append(nearest_words(run, open_run_target(run, args)))
    console.print_path(args, run.report(args.out or run.path.with_suffix(".html"), sections))


def _add_export_flags(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.add_argument(
        "out",
        metavar="FILE",
        help="a name that ends in .csv, .jsonl or .parquet; of pictures also .npz",
    )


def _export(args: argparse.Namespace) -> None:
    from brittle.runs.run import open_run

    console.print_path(args, open_run(args.run, args.runs).export(args.out))


def _add_verify_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", help="another target than the run's own")
    add_target_flags(parser)
    _add_run(parser)


def _verify(args: argparse.Namespace) -> None:
    from brittle.runs.run import open_run
    from brittle.runs.verifying import recheck

    run = open_run(args.run, args.runs)
    target = open_run_target(run, args)
    if target.fingerprint != run.manifest["fingerprint"]:
        console.tell(f"warning: {target.name!r} is not the target that this run was made on")
    checked = list(recheck(run, target))
    if args.json:
        console.dump(
            [
                {"case": check.row.case, "label": check.row.label, "predicted": check.now.label}
                | {"confidence": check.now.confidence, "answer": check.now.text}
                | {"wins": check.still_wins}
                for check in checked
            ]
        )
    failed = [check for check in checked if not check.still_wins]
    if not args.json and not args.quiet:
        console.show(f"{len(checked) - len(failed)} of {len(checked)} broken cases still break.")
        for check in failed[:MAX_FAILURES_SHOWN]:
            now = check.now.text if check.now.label is None else f"predicted {check.now.label}"
            console.show(f"  {check.row.case} is now {now}")
    if failed:
        raise GateFailed(f"{len(failed)} of {len(checked)} broken cases no longer break.")


SHOW = Command(
    "show a run: its figures and its clearest examples",
    "example: brittle show demo",
    _add_show_flags,
    _show,
)
REPORT = Command(
    "write the HTML report of a run",
    "example: brittle report demo --out demo.html",
    _add_report_flags,
    _report,
)
EXPORT = Command(
    "write the rows of a run as .csv, .jsonl or .parquet, its pictures as .npz",
    "example: brittle export demo demo.csv",
    _add_export_flags,
    _export,
)
VERIFY = Command(
    "score what broke every broken case again",
    "example: brittle verify demo",
    _add_verify_flags,
    _verify,
)
