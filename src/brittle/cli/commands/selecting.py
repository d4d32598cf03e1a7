"""`brittle study select`: the members of a pool whose ensemble fools the others best."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from brittle.cli import console
from brittle.cli.command import (
    Command,
    add_backend_flags,
    add_dry_run_flag,
    add_output_flags,
    backend_of,
    count_or_all,
)
from brittle.cli.console import shown
from brittle.cli.output import is_dry_run
from brittle.errors import UsageError
from brittle.safety.files import write_whole

if TYPE_CHECKING:
    from brittle.reports.study_page import StudyView
    from brittle.runs.forecast import Forecast
    from brittle.studies.selecting.selecting import EnsembleCurves
    from brittle.studies.transfer.study import TransferStudy

ALL, NONE = "all", "none"
METHODS = ("genetic", "greedy", "expert", "exhaustive", ALL)
EXAMPLES = """\
examples:
  brittle study select pool:small --size 2..7       (after brittle study transfer)
  brittle study select runs/demo.study.json --size 3 --method all
  brittle study select pool:small --list LSTM-W-Random-1,CNN-C-Random-1,MiniLM --size 2,3
  brittle study select pool:small --size 2..7 --method all --attack --out figure.html
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    study = "a pool that has a transfer study, or the name or file of a transfer study"
    add("pool", metavar="POOL", help=study)
    size = "the sizes of the ensembles: 3, or 2..7, or 2,4,6 (default: 2..7)"
    add("--size", type=_sizes, metavar="SIZES", help=size)
    add(
        "--study",
        type=Path,
        metavar="FILE",
        help="the transfer study to read (default: the newest of the pool)",
    )
    method = "the search (default: genetic); all runs each of them, and adds the paper's list"
    add("--method", choices=METHODS, default="genetic", help=method)
    add("--list", metavar="A,B,…", default="", help="add your own list of models, the best first")
    held = "models to keep out of the ensembles, or none (default: every fifth model of each class "
    held += "in pools of ten or more)"
    add("--held-out", metavar="A,B,…", help=held)
    add("--seed", type=int, default=0, help="the seed of the genetic search (default: 0)")
    attack = parser.add_argument_group("attacking what was selected").add_argument
    attack(
        "--attack",
        action="store_true",
        help="attack the ensembles, and try the texts on all other models",
    )
    data = "the data of the study, if it is a file"
    attack("--data", metavar="DATA", help=data)
    attack("--text", metavar="COLUMN[,COLUMN]", help="the column of the texts in that file")
    attack("--label", metavar="COLUMN", help="the column of the labels in that file")
    limit = "attack only the first N texts of the study, or all (default: all)"
    attack("--limit", type=count_or_all, metavar="N", help=limit)
    add_dry_run_flag(attack)
    out = "with --attack: write the figure as a page (.html) or as a figure (.svg)"
    attack("--out", type=Path, metavar="FILE", help=out)
    add_backend_flags(parser)
    add_output_flags(parser)


def _sizes(text: str) -> tuple[int, ...]:
    """Parse sizes: a number, a range such as 2..7, or several of them with commas."""
    sizes: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:\.\.(\d+))?\s*", part)
        first = int(match[1]) if match else 0
        last = int(match[2] or match[1]) if match else 0
        if not 1 <= first <= last:
            raise argparse.ArgumentTypeError(f"got {text}; expected sizes such as 3, 2..7 or 2,4")
        sizes += range(first, last + 1)
    return tuple(dict.fromkeys(sizes))


def _run(args: argparse.Namespace) -> None:
    from brittle.studies.selecting.choosing import select

    _check(args)
    study = _study(args)
    if args.attack and is_dry_run(args, lambda: _work(args, study)):
        return
    where = backend_of(args)
    held_out = None if args.held_out is None else _names(args.held_out)
    found = select(
        study,
        size=args.size,
        method=args.method,
        list=_names(args.list),
        held_out=() if args.held_out == NONE else held_out,
        seed=args.seed,
        attack=args.attack,
        data=args.data,
        text=args.text,
        label=args.label,
        limit=args.limit,
        folder=args.runs,
        workers=where.count,
        backend=where.backend,
        address=where.address,
        progress=(lambda message: None) if args.quiet else console.tell,
    )
    view = found.view()
    if not args.quiet:
        for message in (
            *found.notes,
            *(f"Left out: {failure}" for failure in found.failures),
            *(f"warning: {warning}" for warning in found.warnings),
        ):
            console.tell(message)
    if found.curves is not None and args.out is not None:
        _write(args.out, view, found.curves)
    console.print_result(args, found.plain, view.block)


def _check(args: argparse.Namespace) -> None:
    if args.dry_run and not args.attack:
        raise UsageError("--dry-run says how much work the attacks are: use it with --attack.")
    if args.out is not None and not args.attack:
        raise UsageError("--out draws what attacked ensembles reach: use it with --attack.")
    if args.out is not None and args.out.suffix not in (".html", ".svg"):
        raise UsageError(
            f"Got --out {shown(args.out)}; expected a file that ends in .html or .svg."
        )


def _study(args: argparse.Namespace) -> TransferStudy:
    """Load the study that --study names, or the one of a pool or of a name."""
    from brittle.studies.selecting.choosing import open_study
    from brittle.studies.selecting.selecting import find_study

    folder = Path(args.runs)
    if args.study is None:
        return open_study(args.pool, folder)
    return find_study(args.pool, folder, args.study)


def _work(args: argparse.Namespace, study: TransferStudy) -> Forecast:
    """Forecast the attacks: no ensemble is selected for that, so it is their largest number."""
    from brittle.studies.forecast import ensemble_work
    from brittle.studies.selecting.choosing import MAX_DEFAULT_SIZE
    from brittle.studies.selecting.selecting import METHODS as EVERY

    sizes = args.size or range(2, MAX_DEFAULT_SIZE + 1)
    methods = len(EVERY) if args.method == ALL else 1
    count = len(sizes) * (methods + bool(args.list))
    return ensemble_work(count, study.attack, study.attacked, args.limit)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _write(out: Path, view: StudyView, curves: EnsembleCurves) -> None:
    """Write a page with both figures, or an SVG of each: FILE.svg and FILE-held-out.svg."""
    from brittle.studies.selecting.view import ensemble_drawings

    if out.suffix == ".html":
        write_whole(out, view.html())
        return
    for name, drawing in ensemble_drawings(curves).items():
        file = out if name == "outside" else out.with_stem(f"{out.stem}-held-out")
        write_whole(file, drawing.file())


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    usual=(
        "size",
        "method",
        "held-out",
        "seed",
        "attack",
        "dry-run",
        "limit",
        "out",
        "workers",
        "json",
        "quiet",
    ),
)
