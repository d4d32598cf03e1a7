"""`brittle export`, `verify` and `compare`: what is done with stored runs and studies.

`brittle export` writes rows as a table, `brittle verify` scores stored texts again, and `brittle
compare` puts runs side by side, with a gate for CI.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, add_target_flags
from brittle.cli.console import shown
from brittle.errors import UsageError
from brittle.formatting import listed

if TYPE_CHECKING:
    from brittle.studies.study import Study

TOOLS = ("pytest", "garak", "spikee", "promptfoo", "checklist")
RUN_HELP = "the name of a {}, the start of it, or its file"


def add_run(parser: argparse.ArgumentParser, what: str = "run or study") -> None:
    """Add the argument that names a run, and the flags that every command has."""
    parser.add_argument("run", metavar="RUN", help=RUN_HELP.format(what))
    add_output_flags(parser)


def _add_export_flags(parser: argparse.ArgumentParser) -> None:
    add_run(parser, "run or study (or a file of rules)")
    out = "the file to write; the ending is the format: .csv, .jsonl or .parquet; for studies and "
    out += "rules also .md, for pictures .npz"
    parser.add_argument("out", metavar="FILE", help=out)
    texts = "for a study: write a row for each adversarial text instead of one for each cell"
    parser.add_argument("--texts", action="store_true", help=texts)
    broken = "for a run: write only the cases that broke"
    parser.add_argument("--broken", action="store_true", help=broken)
    exact = "do not change cells that look like formulas (by default an apostrophe is put before "
    exact += "=, +, - and @ in a .csv)"
    parser.add_argument("--exact", action="store_true", help=exact)
    to = "write the texts that broke the model as tests for this tool, instead of the rows"
    parser.add_argument("--as", dest="tool", choices=TOOLS, help=to)
    new = "with --as: only texts of cases that did not break in this run"
    parser.add_argument("--against", metavar="RUN", help=new)


def _export(args: argparse.Namespace) -> None:
    from brittle.cli.commands.rules import is_rules_file
    from brittle.runs.run import open_run
    from brittle.studies.by_name import named_study

    if is_rules_file(args.run):
        _export_rules(args)
        return
    if (found := named_study(args.run, args.runs)) is not None:
        if args.broken:
            raise UsageError(f"--broken is for runs, but {args.run!r} is a study. Leave it out.")
        console.print_path(args, found[0].export(args.out, texts=args.texts, exact=args.exact))
        return
    run = open_run(args.run, args.runs)
    if args.tool:
        from brittle.ci.failures import export_failures

        old = open_run(args.against, args.runs) if args.against else None
        for path in export_failures(run, Path(args.out), args.tool, old):
            console.print_path(args, path)
        return
    if args.against:
        raise UsageError("--against belongs to --as: name the tool, or leave it out.")
    if args.texts:
        raise UsageError(f"--texts is about a study, but {run.name!r} is a run: leave it out.")
    only = run.broken if args.broken else run
    console.print_path(args, only.export(args.out, exact=args.exact))


def _export_rules(args: argparse.Namespace) -> None:
    from brittle.cli.commands.rules import FORMATS, write_rules

    to = Path(args.out).suffix.removeprefix(".")
    if to not in FORMATS:
        endings = listed([f".{name}" for name in FORMATS], "or")
        raise UsageError(f"Got {shown(args.out)}; expected a name that ends in {endings}.")
    if args.texts:
        raise UsageError(f"--texts is for studies, but {args.run!r} has rules. Leave it out.")
    write_rules(args.run, Path(args.out), to, args.exact)
    console.print_path(args, Path(args.out))


def _add_verify_flags(parser: argparse.ArgumentParser) -> None:
    other = "the target to ask (default: the one that the run attacked)"
    parser.add_argument("--target", help=other)
    add_target_flags(parser)
    add_run(parser, "run")


def _verify(args: argparse.Namespace) -> None:
    from brittle.cli.attack_flags import open_run_target
    from brittle.runs.drift import describe_rechecks, require_all
    from brittle.runs.run import open_run

    run = open_run(args.run, args.runs)
    target = open_run_target(run, args)
    if target.fingerprint != run.manifest["fingerprint"]:
        console.tell(f"warning: {target.name!r} is not the target that this run was made on")
    checked = list(run.recheck(target))
    console.print_result(
        args,
        lambda: [check.plain() for check in checked],
        lambda: "\n".join(describe_rechecks(checked)),
    )
    require_all(checked)


EXPORT = Command(
    "examples:\n  brittle export demo demo.csv\n  brittle export demo failures.csv --broken\n"
    "  brittle export small.study.json cells.csv\n"
    "  brittle export demo tests/failures.jsonl --as pytest\n"
    "  brittle export mr.rules rules.csv",
    _add_export_flags,
    _export,
)
VERIFY = Command(
    "example: brittle verify demo",
    _add_verify_flags,
    _verify,
    usual=("target", "labels", "device", "runs", "json", "quiet"),
)


COMPARE_EXAMPLES = """\
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
        help="exit with code 1 if a later run has a significantly lower accuracy under attack (for "
        "translators: a significantly higher attack success)",
    )
    level = "the significance level of McNemar's exact test (default: 0.05)"
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


COMPARE = Command(COMPARE_EXAMPLES, _add_flags, _run)
