"""`brittle validity write` and `brittle validity read`: have people read adversarial examples.

`brittle validity write` writes pages on which people read adversarial examples, and the key to
them. `brittle validity read` says how many adversarial examples are valid to people, and what
success that leaves.
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

WRITE_EXAMPLES = """\
examples:
  brittle validity write demo --count 100 --people 2
  brittle validity write demo --people 3                  (the same sample, with a third page)
  brittle validity write demo --preset hotflip --count 600 --people 3
  brittle validity write lenet --beside forest --preset natural-pictures --count 20 --people 13

Send each person one page. The page opens from disk, loads nothing, and saves a file. Keep the key
yourself: it says which text is which. Then: brittle validity read RUN FILE…

presets (the last five are from papers):
{presets}
""".format(presets="\n".join(f"  {name:<18} {one.about}" for name, one in PRESETS.items()))


def _add_write_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the name of a run, the start of it, or its file")
    count = "each person reads N items (default: 100, or all broken cases if there are fewer)"
    add("--count", type=positive, default=100, metavar="N", help=count)
    people = "how many people read; each of them reads all items (default: 2)"
    add("--people", type=positive, default=2, metavar="N", help=people)
    about = "the questions; the presets are listed above (default: standard)"
    add("--preset", default=STANDARD, choices=tuple(PRESETS), metavar="PRESET", help=about)
    beside = "a second run on the same data, for presets that compare two runs"
    add("--beside", metavar="RUN", help=beside)
    add("--seed", type=int, default=0, help="the seed of the sample (default: 0)")
    out = "the folder for the pages (default: RUN-pages)"
    add("--out", type=Path, metavar="FOLDER", help=out)
    add_output_flags(parser)


def _write(args: argparse.Namespace) -> None:
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
    console.print_result(args, lambda: _json(pages), lambda: _lines(pages), pages.key.parent)


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


WRITE = Command(
    WRITE_EXAMPLES,
    _add_write_flags,
    _write,
)


READ_EXAMPLES = """\
examples:
  brittle validity read demo answers-*.json              (what people saved)
  brittle validity read demo                             (shows what was measured)
  brittle validity read demo answers-*.json --judge zoo:BiLSTM-W-GloVe-1@mr
  brittle validity read other --judge http:judge.toml --judge-pairs --calibration answers-*.json

brittle show and brittle report then print raw and valid success side by side.
"""


def _add_read_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the name of a run, the start of it, or its file")
    add(
        "files",
        metavar="FILE",
        nargs="*",
        type=Path,
        help="the files that people saved from their pages",
    )
    meaning = "the lowest answer from 1 to 5 that means: the meaning is kept (default: 4)"
    add("--meaning", type=int, default=4, metavar="N", help=meaning)
    natural = "the lowest answer from 1 to 5 that means: the text is natural (default: 3)"
    add("--natural", type=int, default=3, metavar="N", help=natural)
    unfinished = "also read files that are not finished"
    add("--unfinished", action="store_true", help=unfinished)
    judge = "a target that judges all broken cases; the files of people measure its errors"
    add("--judge", metavar="TARGET", help=judge)
    pairs = "ask the judge about both texts (fields original and adversarial): valid or invalid?"
    add("--judge-pairs", action="store_true", help=pairs)
    calibration = (
        "files of people who read another run, to measure the errors of the judge (can be repeated)"
    )
    add("--calibration", action="append", type=Path, default=[], metavar="FILE", help=calibration)
    floors = "measure the baselines that need no people (default: yes, unless they are stored, or "
    floors += "queries cost money)"
    add("--floors", action=argparse.BooleanOptionalAction, default=None, help=floors)
    other = "a classifier of another family, for the baselines (default: one of the zoo)"
    add("--other", metavar="TARGET", help=other)
    add_output_flags(parser)


def _read(args: argparse.Namespace) -> None:
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


READ = Command(
    READ_EXAMPLES,
    _add_read_flags,
    _read,
)
