"""`brittle papers`: repeat a paper and write its figures beside ours.

The flags that carry the finished tasks of a workflow to another machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from brittle.cli import console
from brittle.cli.command import Command, add_backend_flags, add_output_flags, backend_of, positive
from brittle.cli.console import shown
from brittle.formatting import plural
from brittle_papers import PAPERS, SCALES
from brittle_papers.spec import FURTHER_DATA

if TYPE_CHECKING:
    from brittle.workflow.tasks import Task


def add_carrying_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a command that is a workflow."""
    add = parser.add_argument_group("to another machine").add_argument
    pack = "write all finished tasks with their models and runs into a file, and exit"
    add("--pack", metavar="FILE", help=pack)
    add("--unpack", metavar="FILE", help="add the finished tasks of such a file, and exit")


def carry(args: argparse.Namespace, tasks: Sequence[Task], folder: Path) -> bool:
    """Do what the flags ask for, and tell whether they asked for anything."""
    from brittle.workflow.artifacts import pack, unpack

    if args.pack:
        names = pack(tasks, folder, Path(args.pack))
        packed = plural(len(tasks), "tasks")
        text = f"{args.pack}: {len(names)} of {packed} finished and packed."
        console.print_result(args, lambda: {"packed": names}, lambda: text)
    if args.unpack:
        unpacked = unpack(Path(args.unpack), folder)
        added = plural(len(unpacked.added), "tasks")
        text = f"{shown(folder)}: {added} added, {len(unpacked.there)} already existed."
        if unpacked.refused:
            text += (
                " Not added, because other results or files exist under these names: "
                f"{', '.join(unpacked.refused)}. Unpack into another --folder and "
                "BRITTLE_CACHE."
            )
        console.print_result(args, lambda: vars(unpacked), lambda: text)
    return bool(args.pack or args.unpack)


PAGES = "docs/papers"
EXAMPLES = """\
examples:
  brittle papers imdb --scale small
  brittle papers hotflip --scale small --data ag_news/ --words sst2/
  brittle papers transfer --scale small --workers 2
  brittle papers attention --data sst2/ --pairs snli/
  brittle papers attention-translation --data multi30k/
  brittle papers natural --scale small
  brittle papers natural-texts --data snli/ --translations multi30k/

The same command continues where it was stopped, and writes the page when all tasks are done.
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    papers = "; ".join(f"{name}: {about}" for name, about in PAPERS.items())
    name = add("paper", metavar="PAPER", help=papers)
    name.completer = lambda **_: PAPERS  # type: ignore[attr-defined]
    scale = "small: a few hours on two cores; full: the paper's size (default: small)"
    add("--scale", choices=SCALES, metavar="{small,full}", default="small", help=scale)
    add("--data", help="a name, a file, or a folder with train and test files")
    add("--words", help="hotflip: data for the word level, in the same form")
    add("--pairs", help="attention: data with premises and hypotheses, in the same form")
    add("--translations", help="natural-texts: data with sentences and translations")
    add(
        "--cases",
        type=positive,
        help="texts to attack in each cell (default: depends on the scale)",
    )
    add("--seed", type=int, default=0, help="random seed (default: 0)")
    out = f"folder for the page (default: {PAGES}; with --scale full {PAGES}/full)"
    add("--out", metavar="FOLDER", help=out)
    add("--folder", help="folder of stored results (default: papers/PAPER-SCALE in --runs)")
    add("--only", metavar="TASK", help="run only this task and the tasks it needs")
    add_backend_flags(parser, "--jobs")
    add_carrying_flags(parser)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle_papers.paper import build_request, load_paper, plan_of, reproduce

    further = {name: getattr(args, name) for name in FURTHER_DATA}
    request = build_request(args.paper, args.scale, args.data, args.cases, args.seed, **further)
    default = Path(args.runs) / "papers" / f"{request.paper}-{request.scale}"
    folder = Path(args.folder or default)
    if carry(args, plan_of(load_paper(request.paper), request), folder):
        return
    done = reproduce(
        request,
        folder,
        Path(args.out or pages_folder(request.scale)),
        only=args.only,
        backend=backend_of(args),
        report=(lambda message: None) if args.quiet else console.tell,
    )
    outcome = "" if done.page is None else f"Page: {shown(done.page)}"
    if done.page is None:
        left = f"{plural(len(done.left), ('task is', 'tasks are'))} left, such as {done.left[0]!r}"
        outcome = f"The page is not written yet: {left}."
    console.print_result(args, lambda: done.figures, lambda: outcome)


def pages_folder(scale: str) -> str:
    """Return the default folder of a page: one of the paper's size does not replace the small one.

    >>> pages_folder("small"), pages_folder("full")
    ('docs/papers', 'docs/papers/full')
    """
    return f"{PAGES}/{scale}" if scale == "full" else PAGES


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    resumes=True,
    usual=(
        "scale",
        "data",
        "words",
        "pairs",
        "translations",
        "cases",
        "out",
        "jobs",
        "json",
        "quiet",
    ),
    help="repeat a paper, and compare its figures with ours",
)
