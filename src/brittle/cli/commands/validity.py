"""`brittle annotate` and `brittle validity`: have people read adversarial examples.

`brittle annotate`: pages on which people read adversarial examples, and the key to them. `brittle
validity`: how many adversarial examples are valid to people, and what that leaves.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, positive
from brittle.cli.console import shown
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.validity.questionnaire import PRESETS, STANDARD

if TYPE_CHECKING:
    from brittle.runs.run import Run
    from brittle.validity.measuring import Answered, Pages

ANNOTATE_EXAMPLES = """\
examples:
  brittle annotate demo --count 100 --people 2
  brittle annotate demo --people 3                  (the same sample, with a third page)
  brittle annotate demo --preset hotflip --count 600 --people 3
  brittle annotate lenet --beside forest --preset natural-pictures --count 20 --people 13

presets, the last five as in papers:
{presets}

Send each person one page; it opens from disk, loads nothing, and saves a file. Keep the key, which
says what is what. Then: brittle validity RUN FILE…
""".format(presets="\n".join(f"  {name:<18} {one.about}" for name, one in PRESETS.items()))


def _add_annotate_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the name of a run, the start of it, or its file")
    count = "how many items each person reads, if as many cases are broken (default: 100)"
    add("--count", type=positive, default=100, metavar="N", help=count)
    people = "how many people read; all of them read all items (default: 2)"
    add("--people", type=positive, default=2, metavar="N", help=people)
    about = "what is asked; see below (default: standard)"
    add("--preset", default=STANDARD, choices=tuple(PRESETS), metavar="PRESET", help=about)
    beside = "another run on the same data, for presets that compare two"
    add("--beside", metavar="RUN", help=beside)
    add("--seed", type=int, default=0, help="another seed draws another sample (default: 0)")
    out = "the folder of the pages (default: the name of the run, with -pages)"
    add("--out", type=Path, metavar="FOLDER", help=out)
    add_output_flags(parser)


def _run_annotate(args: argparse.Namespace) -> None:
    from brittle.runs.run import open_run

    run = open_run(args.run, args.runs)
    beside = None if args.beside is None else open_run(args.beside, args.runs)
    out = args.out or Path(f"{run.name}-pages")
    settings = {"count": args.count, "people": args.people, "seed": args.seed}
    pages = run.annotate(out, preset=args.preset, beside=beside, **settings)
    items = len(pages.sample.items)
    if items < args.count and not args.quiet:
        console.tell(
            f"Each page has {plural(items, 'items')}, not {args.count}: no more cases are broken."
        )
    console.print_result(args, lambda: _json(pages), lambda: _lines(pages))


def _json(pages: Pages) -> dict[str, Any]:
    return {
        "sample": pages.sample.id,
        "preset": pages.sample.preset,
        "items": len(pages.sample.items),
        "first_panels": _counts(pages),
        "pages": [shown(page) for page in pages.pages],
        "key": shown(pages.key),
    }


def _counts(pages: Pages) -> dict[str, int]:
    roles = [item.panels[0].role for item in pages.sample.items]
    return {role: roles.count(role) for role in dict.fromkeys(sorted(roles))}


def _lines(pages: Pages) -> str:
    counts = ", ".join(f"{role} {count}" for role, count in _counts(pages).items())
    lines = [
        f"sample {pages.sample.id}: {plural(len(pages.sample.items), 'items')}, the same for "
        f"everybody, in another order for each (asked about first: {counts})",
        *(f"  {shown(page)}" for page in pages.pages),
        f"The key, for you alone: {shown(pages.key)}",
    ]
    return "\n".join(lines)


ANNOTATE = Command(
    ANNOTATE_EXAMPLES,
    _add_annotate_flags,
    _run_annotate,
)


EXAMPLES = """\
examples:
  brittle validity demo answers-*.json              (from what people saved)
  brittle validity demo                             (what was measured; floors without people)
  brittle validity demo answers-*.json --judge zoo:BiLSTM-W-GloVe-1@mr
  brittle validity other --judge http:judge.toml --judge-pairs --calibration answers-*.json

brittle show and brittle report then print raw and valid success side by side.
"""


def _add_validity_flags(parser: argparse.ArgumentParser) -> None:
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


def _run_validity(args: argparse.Namespace) -> None:
    from brittle.metrics.summary import summary
    from brittle.reports.validity import validity_block, validity_json
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
    from brittle.validity.measuring import read_files

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
    _add_validity_flags,
    _run_validity,
)
