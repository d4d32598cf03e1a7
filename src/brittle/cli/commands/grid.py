"""`brittle grid`: run several attacks on several targets, on the same cases."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from brittle.cli import console
from brittle.cli.attack_settings import parsed_settings
from brittle.cli.backend_flags import add_backend_flags, backend_of
from brittle.cli.command import Command, add_data_flags, add_output_flags, load_data, positive
from brittle.cli.study_output import print_made_study

EXAMPLES = """\
examples:
  brittle grid zoo:LSTM-W-Random-1@mr,zoo:MiniLM@mr pwws,random-swap --data mr --limit 100
  brittle grid pool:mine.txt pwws,pwws:share=0.2,hotflip --data mr --budget 500
  brittle show runs/NAME/RUN.sqlite      one cell of the grid is a run like any other

Targets are a pool (brittle list pools; pool:FILE has a target a line), or any targets that brittle
attack takes, separated by commas. A flag of an attack is for all attacks that have it. A setting
behind the name of an attack is for this one alone, and so one attack can be there twice.

By default the cases are the first --limit texts, in the seed's order, that all targets get right:
all are compared on the same cases. With --each-right the first --limit texts are taken, and each
target is attacked where it is right; two targets are compared on the cases attacked on both.

The attacks on one target share its answers: what one has asked is not computed again for the next.
The same command again goes on where it was stopped; an attack that was added costs itself alone.
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("pool", metavar="POOL", help="pool:NAME, pool:FILE, or targets separated by commas")
    attacks = "attacks separated by commas (brittle list attacks)"
    add("attack", metavar="ATTACK,ATTACK", help=attacks)
    seed = "the seed of the order and of attacks (default: 0)"
    limit = {"default": 100, "help": "attack N cases (default: 100)"}
    add = add_data_flags(parser, limit=limit, seed=seed)
    right = parser.add_mutually_exclusive_group()
    everyone = "only cases that all targets get right (the default)"
    right.add_argument("--all-right", action="store_true", default=True, help=everyone)
    each = "the first cases; each target is attacked where it is right"
    right.add_argument("--each-right", dest="all_right", action="store_false", help=each)
    add("--budget", type=positive, metavar="N", help="at most N queries for each case")
    add = parser.add_argument_group("study").add_argument
    add("--name", help="the name of the study (default: built from targets and data)")
    add("--report", type=Path, metavar="FILE", help="write the page of the study, too")
    add_backend_flags(parser)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.studies.grid.grid import grid

    dataset = load_data(args)
    where = backend_of(args)
    names = ("limit", "all_right", "seed", "budget", "name")
    study = grid(
        args.pool,
        args.attack,
        dataset,
        folder=args.runs,
        report=(lambda message: None) if args.quiet else console.tell,
        **{name: getattr(args, name) for name in names},
        workers=where.count,
        backend=where.backend,
        address=where.address,
        **parsed_settings(args),
    )
    print_made_study(args, study)


def _attack_words(args: argparse.Namespace, rest: Sequence[str]) -> list[str]:
    from brittle.studies.grid.row_names import split_row

    return [split_row(row.strip())[0] for row in (args.attack or "").split(",")]


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    _attack_words,
    resumes=True,
    several_attacks=True,
)
