"""`brittle robustness`: compare targets by the distance of their nearest natural adversaries."""

from __future__ import annotations

import argparse
from pathlib import Path

from brittle.cli import console
from brittle.cli.command import Command, add_data_flags, add_output_flags, load_data, positive
from brittle.cli.study_output import print_made_study

EXAMPLES = """\
examples:
  brittle robustness zoo:forest@mnist,zoo:LeNet@mnist --generator WGAN@mnist --data mnist
         --per-class 10
  brittle robustness pool:mine.txt --generator ARAE@imdb --data short.csv --radius 5 --samples 100
  brittle robustness pool:nli.txt --generator ARAE@snli --data snli/ --text premise,hypothesis
         --locked premise --label label --all-right --report page.html

For every case the distance is measured, in the latent space of the generator, of the nearest sample
that a target predicts otherwise. No labels are needed; with labels the accuracy stands beside it.
All targets are asked about the same samples, which are decoded once. The first balls find every
boundary roughly, then each is refined in shells of --step (Algorithm 2 of Zhao et al., 2018).

The same command again goes on where it was stopped; a larger --limit adds cases.
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("pool", metavar="POOL", help="pool:NAME, pool:FILE, or targets separated by commas")
    generator = "a trained generator (brittle list generators), a folder, or python:module:name"
    add("--generator", required=True, metavar="G", help=generator)
    add = add_data_flags(
        parser,
        data="mnist, a file, a folder, or hf:NAME",
        locked="fields that are never changed",
        limit={"default": 100, "help": "N cases (default: 100)"},
        seed="the seed of order and samples (default: 0)",
    )
    add("--per-class", type=positive, metavar="N", help="at most N cases of each class")
    add("--all-right", action="store_true", help="only cases that all targets get right")
    add = parser.add_argument_group("search").add_argument
    add("--samples", type=positive, default=500, help="the paper's N, of each shell (default: 500)")
    add("--step", type=float, default=0.01, help="the paper's Δr (default: 0.01)")
    add("--radius", type=float, default=10.0, help="the largest distance (default: 10)")
    add("--misses", type=positive, default=5, help="the paper's B (default: 5)")
    add("--refine", type=int, default=0, help="steps of descent on the first point (default: 0)")
    add = parser.add_argument_group("study").add_argument
    add("--name", help="the name of the study (default: built from targets and data)")
    add("--report", type=Path, metavar="FILE", help="write the page of the study, too")
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.studies.robustness.robustness import robustness

    dataset = load_data(args)
    names = ("limit", "per_class", "all_right", "samples", "step", "radius", "misses", "refine")
    study = robustness(
        args.pool,
        dataset,
        args.generator,
        folder=args.runs,
        report=(lambda message: None) if args.quiet else console.tell,
        **{name: getattr(args, name) for name in (*names, "seed", "name", "device")},
    )
    print_made_study(args, study)


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    resumes=True,
)
