"""`brittle show`, `report`, `card`, `export`, `verify` and `compare`: stored runs and studies.

`brittle show`, `report`, `export` and `verify`: what is done with one stored run or study. `brittle
compare`: runs side by side, and a gate for CI.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, add_target_flags
from brittle.errors import UsageError

if TYPE_CHECKING:
    from brittle.reports.page import Section
    from brittle.studies.study import Study


def _add_run(parser: argparse.ArgumentParser, what: str = "run or study") -> None:
    help = f"the name of a {what}, the start of it, or its file"
    parser.add_argument("run", metavar="RUN", help=help)
    add_output_flags(parser)


def _add_show_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--examples", type=int, default=5, metavar="N", help="show N examples (default: 5)")
    add("--all", action="store_true", help="show everything: all figures, what they rest on")
    _add_run(parser)


def _show(args: argparse.Namespace) -> None:
    from brittle.reports.summaries import summary_json
    from brittle.reports.terminal import run_block
    from brittle.runs.run import open_run
    from brittle.studies.by_name import named_study

    if (found := named_study(args.run, args.runs)) is not None:
        study = found[0]
        console.print_result(args, study.summary, lambda: study.view(texts=args.examples).block())
        return
    run = open_run(args.run, args.runs)
    console.print_result(
        args, lambda: summary_json(run), lambda: run_block(run, args.examples, args.all)
    )


def _add_report_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--out", metavar="FILE", help="the file to write (default: beside the run, with .html)")
    add("--nearest", action="store_true", help="add the nearest words of edited words")
    add("--target", help="for --nearest: another target than the run's own")
    add_target_flags(parser)
    _add_run(parser)


def _report(args: argparse.Namespace) -> None:
    from brittle.runs.run import open_run
    from brittle.studies.by_name import named_study

    if (found := named_study(args.run, args.runs)) is not None:
        study, path = found
        if args.nearest:
            raise UsageError(f"--nearest is about a run, but {study.name!r} is a study.")
        console.print_path(args, study.report(args.out or path.with_suffix(".html")))
        return
    run = open_run(args.run, args.runs)
    sections: list[Section | None] = []
    if args.nearest:
        from brittle.cli.attack_flags import open_run_target
        from brittle.inside.nearest import nearest_words

        sections.append(nearest_words(run.results(), open_run_target(run, args)))
    console.print_path(args, run.report(args.out or run.path.with_suffix(".html"), sections))


def _add_card_flags(parser: argparse.ArgumentParser) -> None:
    out = "the file to write, such as README.md (default: print the card)"
    parser.add_argument("--out", metavar="FILE", help=out)
    _add_run(parser, "run")


def _card(args: argparse.Namespace) -> None:
    from pathlib import Path

    from brittle.reports.summaries import summarize
    from brittle.reports.trust import trust_facts
    from brittle.runs.run import open_run
    from brittle.safety.files import write_whole

    run = open_run(args.run, args.runs)
    if args.out:
        out = Path(args.out)
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, run.card(), errors="replace")
        console.print_path(args, out)
        return
    if args.json:
        console.dump({fact.name: fact.value for fact in trust_facts(run, *summarize(run))})
    elif not args.quiet:
        console.print_text(run.card())


def _add_export_flags(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.add_argument(
        "out",
        metavar="FILE",
        help="a name that ends in .csv, .jsonl or .parquet; of a study also .md, of pictures .npz",
    )
    texts = "of a study: a row for every adversarial text (of a grid: for every case of a cell, of "
    texts += "a robustness study: for every case of a target), instead of one for every cell"
    parser.add_argument("--texts", action="store_true", help=texts)
    exact = "of a .csv: leave cells as they are, also those that a spreadsheet would compute (by "
    exact += "default an apostrophe stands before =, +, - and @)"
    parser.add_argument("--exact", action="store_true", help=exact)


def _export(args: argparse.Namespace) -> None:
    from brittle.runs.run import open_run
    from brittle.studies.by_name import named_study

    if (found := named_study(args.run, args.runs)) is not None:
        console.print_path(args, found[0].export(args.out, texts=args.texts, exact=args.exact))
        return
    run = open_run(args.run, args.runs)
    if args.texts:
        raise UsageError(f"--texts is about a study, but {run.name!r} is a run: leave it out.")
    console.print_path(args, run.export(args.out, exact=args.exact))


def _add_verify_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", help="another target than the run's own")
    add_target_flags(parser)
    _add_run(parser, "run")


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


SHOW = Command(
    "examples:\n  brittle show demo\n  brittle show small.study.json",
    _add_show_flags,
    _show,
)
REPORT = Command(
    "examples:\n  brittle report demo --out demo.html\n  brittle report small.study.json",
    _add_report_flags,
    _report,
)
EXPORT = Command(
    "examples:\n  brittle export demo demo.csv\n  brittle export small.study.json cells.csv",
    _add_export_flags,
    _export,
)
CARD = Command(
    "examples:\n  brittle card demo\n  brittle card demo --out card.md",
    _add_card_flags,
    _card,
)
VERIFY = Command(
    "example: brittle verify demo",
    _add_verify_flags,
    _verify,
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


COMPARE = Command(COMPARE_EXAMPLES, _add_flags, _run)
