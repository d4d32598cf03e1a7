"""`brittle transfer`, `grid`, `robustness` and `select`: many targets, one study.

`brittle transfer`: attack every member of a pool, and try what breaks it on all others. `brittle
grid`: run several attacks on several targets, on the same cases. `brittle robustness`: compare
targets by the distance of their nearest natural adversaries. `brittle select`: which members of a
pool make the ensemble whose texts fool the others best.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from brittle.cli import console
from brittle.cli.attack_flags import parsed_settings
from brittle.cli.command import (
    Command,
    add_backend_flags,
    add_data_flags,
    add_output_flags,
    backend_of,
    load_data,
    positive,
)
from brittle.cli.console import shown
from brittle.cli.output import print_made_study
from brittle.errors import UsageError, unknown
from brittle.safety.files import write_whole

if TYPE_CHECKING:
    from brittle.reports.study_page import StudyView
    from brittle.studies.selecting.selecting import EnsembleCurves, SelectedEnsemble
    from brittle.studies.transfer.study import TransferStudy

TRANSFER_EXAMPLES = """\
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


def _add_transfer_flags(parser: argparse.ArgumentParser) -> None:
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


def _run_transfer(args: argparse.Namespace) -> None:
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


TRANSFER = Command(
    TRANSFER_EXAMPLES,
    _add_transfer_flags,
    _run_transfer,
    _attack_words,
    resumes=True,
)


GRID_EXAMPLES = """\
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


def _add_grid_flags(parser: argparse.ArgumentParser) -> None:
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


def _run_grid(args: argparse.Namespace) -> None:
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
)


ROBUSTNESS_EXAMPLES = """\
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


def _add_robustness_flags(parser: argparse.ArgumentParser) -> None:
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


def _run_robustness(args: argparse.Namespace) -> None:
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


ROBUSTNESS = Command(
    ROBUSTNESS_EXAMPLES,
    _add_robustness_flags,
    _run_robustness,
    resumes=True,
)


ALL, NONE = "all", "none"
METHODS = ("genetic", "greedy", "expert", "exhaustive", ALL)
SELECT_EXAMPLES = """\
examples:
  brittle select pool:small --size 2..7                 (after: brittle transfer pool:small …)
  brittle select runs/demo.study.json --size 3 --method all
  brittle select pool:small --list LSTM-W-Random-1,CNN-C-Random-1,MiniLM --size 2,3
  brittle select pool:small --size 2..7 --method all --attack --out figure.html
"""


def _add_select_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    study = "a pool that has a transfer study, or a study by its name or its file"
    add("pool", metavar="POOL", help=study)
    size = "the sizes of the ensembles: 3, or 2..7, or 2,4,6 (default: 2..7, or what there is)"
    add("--size", type=_sizes, metavar="SIZES", help=size)
    add("--study", type=Path, metavar="FILE", help="the study (default: the pool's newest)")
    method = "the search (default: genetic); all: every one, and the paper's list"
    add("--method", choices=METHODS, default="genetic", help=method)
    add("--list", metavar="A,B,…", default="", help="also a list of your own, the best first")
    held = "models that no ensemble may hold, by name; none; default: every fifth by class"
    add("--held-out", metavar="A,B,…", help=f"{held}, in pools of ten or more")
    add("--seed", type=int, default=0, help="the seed of the genetic search (default: 0)")
    attack = parser.add_argument_group("attacking what was selected").add_argument
    attack("--attack", action="store_true", help="attack the ensembles, and ask all other models")
    data = "the data of the study, where it is no name of the catalogue"
    attack("--data", metavar="DATA", help=data)
    attack("--text", metavar="COLUMN[,COLUMN]", help="the text column of a file")
    attack("--label", metavar="COLUMN", help="the label column of a file")
    limit = "attack only the first N texts of the study (default: all)"
    attack("--limit", type=positive, metavar="N", help=limit)
    out = "with --attack: write the figure as a page (.html) or as SVG"
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


def _run_select(args: argparse.Namespace) -> None:
    from brittle.studies.selecting.search import candidates_of
    from brittle.studies.selecting.selecting import METHODS as EVERY
    from brittle.studies.selecting.selecting import select
    from brittle.studies.selecting.view import ensembles_json, ensembles_view

    _check(args)
    study = _study(args)
    held_out = _held_out(args, study)
    candidates = candidates_of(study.results.matrix(), held_out)
    sizes = args.size or range(2, min(7, len(candidates.sources)) + 1)
    methods = EVERY if args.method == ALL else (args.method,)
    ensembles, notes = select(candidates, sizes, methods, args.seed, _names(args.list))
    if not args.quiet:
        for note in notes:
            console.tell(note)
    curves = _attacked(args, study, ensembles, held_out) if args.attack else None
    view = ensembles_view(study, ensembles, held_out, curves)
    if curves is not None and args.out is not None:
        _write(args.out, view, curves)
    console.print_result(
        args, lambda: ensembles_json(study, ensembles, held_out, notes, curves), view.block
    )


def _check(args: argparse.Namespace) -> None:
    if args.out is not None and not args.attack:
        raise UsageError("--out draws what attacked ensembles reach: use it with --attack.")
    if args.out is not None and args.out.suffix not in (".html", ".svg"):
        raise UsageError(
            f"Got --out {shown(args.out)}; expected a file that ends in .html or .svg."
        )


def _study(args: argparse.Namespace) -> TransferStudy:
    """Load the study of a pool, or the one that is named instead of a pool."""
    from brittle.studies.by_name import named_study, of_kind
    from brittle.studies.pools import PREFIX
    from brittle.studies.selecting.selecting import find_study

    if args.study is None and not args.pool.startswith(PREFIX):
        named = named_study(args.pool, args.runs)
        if named is not None:
            return of_kind(named[0], "transfer")
    return find_study(args.pool, Path(args.runs), args.study)


def _held_out(args: argparse.Namespace, study: TransferStudy) -> tuple[str, ...]:
    from brittle.studies.selecting.search import ANY_BERT, EXPERT_LIST
    from brittle.studies.selecting.selecting import default_held_out

    own, known = _names(args.list), [target.name for target in study.targets]
    for name in own:
        if name not in (*known, ANY_BERT):
            raise unknown("model of the study:", name, known)
    if args.held_out is None:
        return default_held_out(study.targets, spared={*EXPERT_LIST, *own})
    if args.held_out == NONE:
        return ()
    names = _names(args.held_out)
    for name in names:
        if name not in known:
            raise unknown("model of the study:", name, known)
        if name in own:
            raise UsageError(f"{name!r} is in --list and in --held-out. Leave it out of one.")
    return names


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _attacked(
    args: argparse.Namespace,
    study: TransferStudy,
    ensembles: Sequence[SelectedEnsemble],
    held_out: Sequence[str],
) -> EnsembleCurves:
    """Attack the ensembles, and compute their curves."""
    from brittle.data import load
    from brittle.studies.selecting.selecting import attack_ensembles, ensemble_curves
    from brittle.studies.transfer.study import counts_of

    split = None if args.data else study.split
    columns = {"text": args.text, "label": args.label, "locked": study.locked}
    dataset = load(args.data or study.data, split=split, **columns)
    report = (lambda message: None) if args.quiet else console.tell
    attacked = attack_ensembles(
        study, ensembles, dataset, Path(args.runs), backend_of(args), report, args.limit
    )
    if not args.quiet:
        for name, reason in attacked.failures.items():
            console.tell(f"Left out: {name}. {reason}")
        for warning in attacked.warnings:
            console.tell(f"warning: {warning}")
    singles, matrix = study.results.matrix(), attacked.results.matrix()
    return ensemble_curves(singles, matrix, ensembles, held_out, counts_of(attacked))


def _write(out: Path, view: StudyView, curves: EnsembleCurves) -> None:
    """Write a page with both figures, or an SVG of each: FILE.svg and FILE-held-out.svg."""
    from brittle.studies.selecting.view import ensemble_drawings

    if out.suffix == ".html":
        write_whole(out, view.html())
        return
    for name, drawing in ensemble_drawings(curves).items():
        file = out if name == "outside" else out.with_stem(f"{out.stem}-held-out")
        write_whole(file, drawing.file())


SELECT = Command(SELECT_EXAMPLES, _add_select_flags, _run_select)
