"""`brittle transfer`: attack every member of a pool, and try what breaks it on all others."""

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
  brittle transfer pool:small pwws --data mr
  brittle transfer zoo:naive-bayes@mr,zoo:LSTM-W-Random-1@mr pwws --data mr --limit 100
  brittle transfer pool:mine.txt genetic --data mr --limit 200 --generations 10

A pool is declared (brittle list models) or a file with a target a line: the name of a zoo model, or
any target that brittle attack takes. Models of the zoo are trained when they are not there yet.

Rows are sources, columns targets: the share of a source's adversarial texts that a target gets
wrong. The diagonal is the base rate, a model's texts tried on the same model of another seed.
The same command again goes on where it was stopped; a model that was added to the pool since then
costs its own row and column. A target that is code or an endpoint (python:, http:, cmd:) counts as
the same while its line is the same: --name starts a new study.
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("pool", metavar="POOL", help="pool:NAME, pool:FILE, or targets separated by commas")
    add("attack", metavar="ATTACK", help="the attack (brittle list attacks)")
    limit = "attack the first N examples of a random order (default: 1000)"
    seed = "the seed of that order and of the attack (default: 0)"
    add = add_data_flags(parser, limit={"default": 1000, "help": limit}, seed=seed)
    winners = "at most N adversarial texts of each source (default: 500)"
    add("--winners", type=positive, default=500, metavar="N", help=winners)
    seeds = "2: every zoo model has a twin, for the base rate; 1: no diagonal (default: 2)"
    add("--seeds", type=int, choices=(1, 2), default=2, help=seeds)
    add("--budget", type=positive, metavar="N", help="at most N queries for each case")
    add = parser.add_argument_group("study").add_argument
    add("--name", help="the name of the study (default: built from pool, attack and data)")
    resamples = "resamples of the texts, for the intervals (default: 1000)"
    add("--resamples", type=positive, default=1000, metavar="N", help=resamples)
    add("--report", type=Path, metavar="FILE", help="write the page of the study, too")
    add_backend_flags(parser)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.studies.transfer.transfer import transfer

    dataset = load_data(args)
    where = backend_of(args)
    names = ("limit", "winners", "seeds", "seed", "budget", "name")
    study = transfer(
        args.pool,
        dataset,
        args.attack,
        folder=args.runs,
        report=(lambda message: None) if args.quiet else console.tell,
        **{name: getattr(args, name) for name in names},
        workers=where.count,
        backend=where.backend,
        address=where.address,
        **parsed_settings(args),
    )
    print_made_study(args, study, resamples=args.resamples)


def _attack_words(args: argparse.Namespace, rest: Sequence[str]) -> list[str]:
    return [args.attack, *rest]


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    _attack_words,
    resumes=True,
)
