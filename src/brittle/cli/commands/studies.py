"""`brittle study transfer`, `grid` and `robustness`: many targets, one study.

`brittle study transfer`: attack every member of a pool, and try what breaks it on all others.
`brittle study grid`: several attacks on several targets, on the same cases. `brittle study
robustness`: how far the nearest natural adversaries of several targets are.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from brittle.cli.attack_flags import parsed_settings
from brittle.cli.command import Command, backend_of, positive
from brittle.cli.output import is_dry_run, print_made_study
from brittle.cli.study_flags import USUAL, add_pool, add_study_flags, load_study_data, progress_of

if TYPE_CHECKING:
    from brittle.data.dataset import Dataset
    from brittle.runs.forecast import Forecast

TRANSFER_EXAMPLES = """\
examples:
  brittle study transfer pool:small pwws --data mr
  brittle study transfer zoo:naive-bayes@mr,zoo:LSTM-W-Random-1@mr pwws --data mr --limit 100
  brittle study transfer pool:mine.txt genetic --data mr --limit 200 --generations 10

Each row of the table is a source, each column a target: the share of the texts that broke the
source and are wrong on the target, too. The diagonal is the base rate: texts of a model, tried on
the same model with another seed.

A pool is one of brittle list pools, or a file with one target a line. Models of the zoo are trained
if they are missing. The same command again resumes the study; a model that you add to the pool
costs only its own row and column.
"""
TRANSFER_DETAILS = """\
A target that is code or an endpoint (python:, http:, cmd:) counts as the same target as long as its
line is the same. Use --name to start a new study.
"""


def _add_transfer_flags(parser: argparse.ArgumentParser) -> None:
    add_pool(parser)
    add = parser.add_argument
    add("attack", metavar="ATTACK", help="the attack (see brittle list attacks)")
    winners = "use at most N adversarial texts of each source (default: 500)"
    add("--winners", type=positive, default=500, metavar="N", help=winners)
    seeds = "2 trains each zoo model twice, for the base rate; 1 gives no diagonal (default: 2)"
    add("--seeds", type=int, choices=(1, 2), default=2, help=seeds)
    resamples = "resample the texts N times for the intervals (default: 1000)"
    add("--resamples", type=positive, default=1000, metavar="N", help=resamples)
    add_study_flags(parser, limit=1000, made_of="pool, attack and data")


def _run_transfer(args: argparse.Namespace) -> None:
    from brittle.studies.transfer.transfer import transfer

    dataset = load_study_data(args)
    if is_dry_run(args, partial(_transfer_work, args, dataset)):
        return
    where = backend_of(args)
    names = ("limit", "winners", "seeds", "seed", "budget", "name", "new")
    study = transfer(
        args.pool,
        dataset,
        args.attack,
        folder=args.runs,
        progress=progress_of(args),
        **{name: getattr(args, name) for name in names},
        workers=where.count,
        backend=where.backend,
        address=where.address,
        **parsed_settings(args),
    )
    print_made_study(args, study, resamples=args.resamples)


def _transfer_work(args: argparse.Namespace, dataset: Dataset) -> Forecast:
    from brittle.studies.forecast import transfer_work
    from brittle.studies.pools import load_pool

    members = load_pool(args.pool, dataset.name, args.seeds).members
    return transfer_work(members, args.attack, dataset, args.limit, args.winners, args.runs)


def _attack_words(args: argparse.Namespace, rest: Sequence[str]) -> list[str]:
    return [args.attack, *rest]


TRANSFER = Command(
    TRANSFER_EXAMPLES,
    _add_transfer_flags,
    _run_transfer,
    _attack_words,
    resumes=True,
    usual=(*USUAL, "seeds"),
    details=TRANSFER_DETAILS,
)


GRID_EXAMPLES = """\
examples:
  brittle study grid zoo:LSTM-W-Random-1@mr,zoo:MiniLM@mr pwws,random-swap --data mr --limit 100
  brittle study grid pool:mine.txt pwws,pwws:share=0.2,hotflip --data mr --budget 500
  brittle show runs/NAME/RUN.sqlite      (each cell of the grid is a run)

A flag of an attack is for all attacks that have it. A setting after the name of an attack
(pwws:share=0.2) is for this one alone, so that one attack can stand there twice.
"""
GRID_DETAILS = """\
By default all targets are attacked on the same cases: the first --limit texts, in a random order,
that all targets get right. With --each-right the first --limit texts are taken, and each target is
attacked where it is right; two targets are then compared on the cases attacked on both.

The attacks on one target share its answers, so that no text is computed twice. The same command
again resumes the study; an attack that you add costs only itself.
"""


def _add_grid_flags(parser: argparse.ArgumentParser) -> None:
    add_pool(parser)
    attacks = "the attacks, separated by commas (see brittle list attacks)"
    parser.add_argument("attack", metavar="ATTACK,ATTACK", help=attacks)
    right = parser.add_mutually_exclusive_group()
    everyone = "use only cases that all targets get right (the default)"
    right.add_argument("--all-right", action="store_true", default=True, help=everyone)
    each = "use the first cases, and attack each target where it is right"
    right.add_argument("--each-right", dest="all_right", action="store_false", help=each)
    add_study_flags(parser, limit=100, made_of="targets and data")


def _run_grid(args: argparse.Namespace) -> None:
    from brittle.studies.grid.grid import grid

    dataset = load_study_data(args)
    if is_dry_run(args, partial(_grid_work, args, dataset)):
        return
    where = backend_of(args)
    names = ("limit", "all_right", "seed", "budget", "name", "new")
    study = grid(
        args.pool,
        dataset,
        args.attack,
        folder=args.runs,
        progress=progress_of(args),
        **{name: getattr(args, name) for name in names},
        workers=where.count,
        backend=where.backend,
        address=where.address,
        **parsed_settings(args),
    )
    print_made_study(args, study)


def _grid_work(args: argparse.Namespace, dataset: Dataset) -> Forecast:
    from brittle.studies.forecast import grid_work
    from brittle.studies.pools import load_pool

    members = load_pool(args.pool, dataset.name).members
    attacks = _grid_attack_words(args, ())
    return grid_work(members, attacks, dataset, args.limit, args.runs)


def _grid_attack_words(args: argparse.Namespace, rest: Sequence[str]) -> list[str]:
    from brittle.studies.grid.study import split_row

    return [split_row(row.strip())[0] for row in (args.attack or "").split(",")]


GRID = Command(
    GRID_EXAMPLES,
    _add_grid_flags,
    _run_grid,
    _grid_attack_words,
    resumes=True,
    several_attacks=True,
    usual=(*USUAL, "each-right"),
    details=GRID_DETAILS,
)


ROBUSTNESS_EXAMPLES = """\
examples:
  brittle study robustness zoo:LeNet@mnist --generator WGAN@mnist --data mnist --limit 5
  brittle study robustness pool:mine.txt --generator VAE@imdb --data short.csv --radius 5

For each case brittle searches the latent space of the generator for the nearest sample that the
target predicts otherwise, and measures its distance. No labels are needed. With labels the table
has the accuracy, too. The same command again resumes the study; a larger --limit adds cases.
"""
ROBUSTNESS_DETAILS = """\
more examples:
  brittle study robustness zoo:LeNet@mnist --generator WGAN@mnist --data mnist --per-class 10
  brittle study robustness pool:nli.txt --generator ARAE@snli --data snli/ --locked premise

All targets are asked about the same samples, which are decoded once. The first balls find each
boundary roughly. Then shells of width --step refine it (Algorithm 2 of Zhao et al., 2018).
"""


def _add_robustness_flags(parser: argparse.ArgumentParser) -> None:
    add_pool(parser)
    add = parser.add_argument
    generator = "a trained generator (see brittle list generators), a folder, or python:module:name"
    add("--generator", required=True, metavar="G", help=generator)
    add("--per-class", type=positive, metavar="N", help="use at most N cases of each class")
    add("--all-right", action="store_true", help="use only cases that all targets get right")
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    add = parser.add_argument_group("search").add_argument
    samples = "draw N samples in each shell (the paper's N; default: 500)"
    add("--samples", type=positive, default=500, metavar="N", help=samples)
    add("--step", type=float, default=0.01, help="the width of a shell (Δr; default: 0.01)")
    add("--radius", type=float, default=10.0, help="the largest distance (default: 10)")
    misses = "stop after N shells without an adversary (the paper's B; default: 5)"
    add("--misses", type=positive, default=5, metavar="N", help=misses)
    refine = "take N gradient steps that improve the first point (default: 0)"
    add("--refine", type=int, default=0, metavar="N", help=refine)
    add_study_flags(
        parser,
        limit=100,
        made_of="targets and data",
        has_budget=False,
        has_backend=False,
        data="mnist, a file, a folder, or hf:NAME",
        locked="fields that are never changed",
    )


def _run_robustness(args: argparse.Namespace) -> None:
    from brittle.studies.robustness.robustness import robustness

    dataset = load_study_data(args)
    if is_dry_run(args, partial(_robustness_work, args, dataset)):
        return
    names = ("limit", "per_class", "all_right", "samples", "step", "radius", "misses", "refine")
    study = robustness(
        args.pool,
        dataset,
        args.generator,
        folder=args.runs,
        progress=progress_of(args),
        **{name: getattr(args, name) for name in (*names, "seed", "name", "new", "device")},
    )
    print_made_study(args, study)


def _robustness_work(args: argparse.Namespace, dataset: Dataset) -> Forecast:
    from brittle.studies.forecast import robustness_work
    from brittle.studies.pools import load_pool

    settings = {name: getattr(args, name) for name in ("samples", "step", "radius", "misses")}
    members = load_pool(args.pool, dataset.name).members
    return robustness_work(members, dataset, args.limit, settings)


ROBUSTNESS = Command(
    ROBUSTNESS_EXAMPLES,
    _add_robustness_flags,
    _run_robustness,
    resumes=True,
    usual=(*USUAL, "per-class", "samples"),
    details=ROBUSTNESS_DETAILS,
)
