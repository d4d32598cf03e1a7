"""`brittle train`: train a model of the zoo, also adversarially, or a pool of models.

`brittle train pool:NAME`: train what is missing of a pool of models.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from brittle.cli import console
from brittle.cli.attack_flags import parsed_settings
from brittle.cli.command import (
    Command,
    add_backend_flags,
    add_data_flags,
    add_dry_run_flag,
    add_output_flags,
    backend_of,
    positive,
)
from brittle.cli.output import is_dry_run, pool_progress
from brittle.errors import RunStopped, UsageError
from brittle.formatting import plural

if TYPE_CHECKING:
    from brittle.runs.forecast import Forecast
    from brittle.studies.pools import Pool
    from brittle.training.adversarial.methods import AdversarialTraining

ONE_MODEL_FLAGS = ("set", "adversarial", "share", "noise", "copies", "every", "seed")


def run(args: argparse.Namespace) -> None:
    """Train the models of a pool, print their table, and end with an error if one failed."""
    from brittle.studies.pool_tasks import of_size, train_pool
    from brittle.studies.pool_view import pool_block, states_json
    from brittle.studies.pools import load_pool
    from brittle.training.splits import load_splits

    _check_flags(args)
    load_splits(args.data, text=args.text, label=args.label)  # else all fail, for one reason
    pool = of_size(load_pool(args.model, args.data, args.seeds or 1), args.size)
    if is_dry_run(args, lambda: _work(args, pool)):
        return
    with pool_progress(args.quiet) as progress:
        states = train_pool(
            pool,
            text=args.text,
            label=args.label,
            device=args.device,
            new=args.new,
            backend=backend_of(args),
            progress=progress,
        )
    data = {"pool": pool.name, "data": args.data, "models": states_json(states)}
    console.print_result(args, lambda: data, lambda: pool_block(pool, states))
    failed = [state for state in states if state.state == "failed"]
    if failed:
        reasons = "\n".join(f"  {state.spec}: {state.note}" for state in failed)
        raise RunStopped(
            f"{len(failed)} of {plural(len(states), 'models')} are not trained:\n{reasons}\n"
        )


def _work(args: argparse.Namespace, pool: Pool) -> Forecast:
    from brittle.runs.forecast import Forecast
    from brittle.studies.forecast import trainings

    return Forecast(tuple(trainings(pool.members, args.text, args.label, args.new)))


def _check_flags(args: argparse.Namespace) -> None:
    """Refuse flags that are settings of one model."""
    named = next((name for name in ONE_MODEL_FLAGS if getattr(args, name)), None)
    if named is not None:
        raise UsageError(
            f"--{named} is for one model, but {args.model!r} is a pool. Write a file of models, a "
            "line each, such as LSTM-W-Random-1+hotflip@mr#1?hidden=32, and name it: pool:FILE."
        )


METHOD_FLAGS = ("share", "noise", "copies", "every", "edits")
POOL_PREFIX, POOL_FLAGS = "pool:", ("seeds", "workers", "address", "dry_run")
EXAMPLES = """\
examples:
  brittle train LSTM-W-Random-1 --data mr
  brittle train LSTM-W-Random-1 --data reviews.csv --text review --label stars
  brittle train LSTM-W-Random-1 --data mr --adversarial rewrite    (hardened against rewrites)
  brittle train hf:roberta-base --data mr                          (a transformers model to tune)
  brittle train pool:small --data mr                               (all models of a pool)

A model that is trained already is not trained again, and a stopped training resumes.
"""
DETAILS = """\
more examples:
  brittle train LSTM-W-GloVe-1 --data imdb --size paper --set hidden=32 --set dropout=0.5
  brittle train BiLSTM-W-GloVe-1-pair --data nli.csv --text premise,hypothesis
  brittle train CharCNN-LSTM --data mr --adversarial hotflip
  brittle train LSTM-W-Random-1 --data mr --adversarial rewrite,careful --copies 2
  brittle train LSTM-W-Random-1 --data mr --adversarial pwws --copies 100
  brittle train biLM --data imdb           (a language model; reads no labels)
  brittle train LSTM-WC-ELMo-1 --data mr   (reads biLM@imdb, which is trained first)
  brittle train MLP --data mnist --set hidden=64 --set dropout=0.5
  brittle train WGAN --data mnist          (a generator, for the attack natural)
  brittle train ARAE --data multi30k/ --text en --exclude attacked.csv   (a generator)
  brittle train BERT-NOPT --data mr
  brittle train hf:roberta-base --data mr --set layers=3
  brittle train seq2seq-Transformer --data multi30k --text en --label de   (a translator)
  brittle train pool:small --data mr --seeds 2
"""
USUAL = (
    *(
        "data",
        "text",
        "label",
        "seed",
        "size",
        "set",
        "new",
        "seeds",
        "dry-run",
        "workers",
        "adversarial",
    ),
    *("json", "quiet"),
)


def _add_flags(parser: argparse.ArgumentParser) -> None:
    from brittle.levels import LEVELS

    add = parser.add_argument
    name = "a name of brittle list models; hf:NAME or a folder for a transformers encoder to tune; "
    name += "or pool:NAME or pool:FILE for all models of a pool (the file has one model a line)"
    add("model", metavar="NAME", help=name)
    add_data_flags(
        parser,
        *("data", "text", "label", "seed"),
        data="mr, imdb, bbc, mnist, a file, a folder of pictures, or hf:NAME",
        text="the column of the texts; two columns are a pair: --text premise,hypothesis",
        label="the column of the labels; for a translator, of the translations",
        seed="the seed of the training (default: 0)",
    )
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    size = "default (minutes on two cores), tiny (a few seconds), or paper (the size in its paper)"
    add("--size", default="default", help=size)
    change = "change a setting of the model (can be repeated); the README in its folder lists them"
    add("--set", action="append", default=[], metavar="SETTING=VALUE", help=change)
    exclude = (
        "for a generator of sentences: do not learn the sentences of this file (can be repeated)"
    )
    add("--exclude", action="append", default=[], metavar="FILE", help=exclude)
    add("--new", action="store_true", help="train again, even if the model is trained already")
    export = "for a generator: write it to this folder, too, with weights of half the size"
    add("--export", metavar="FOLDER", help=export)
    add = parser.add_argument_group("pools").add_argument
    seeds = "2 trains each model twice, with the seeds 0 and 1, for the base rate (default: 1)"
    add("--seeds", type=int, choices=(1, 2), help=seeds)
    add_dry_run_flag(add)
    add_backend_flags(parser)
    add = parser.add_argument_group("adversarial training").add_argument
    method = f"hotflip, miyato, key; levels of the ladder ({', '.join(LEVELS)}, or "
    method += "several with commas); or an attack, whose settings are then flags too"
    add("--adversarial", metavar="METHOD", help=method)
    share = (
        "hotflip, key: the share of the characters changed (default: 0.2); a level: that of the "
    )
    share += "words or phrases that have candidates (default: 0.5); an attack: its own"
    add("--share", type=float, help=share)
    noise = "miyato: the norm of the noise, relative to the vectors (default: 0.03)"
    add("--noise", type=float, help=noise)
    copies = "a level: variants of each text (default: 4); an attack: how many texts (default: 200)"
    add("--copies", type=positive, help=copies)
    every = "an attack: attack the model again after so many epochs (default: 1)"
    add("--every", type=positive, help=every)
    add("--edits", type=positive, help="rewrite: at most so many rewrites of a text (default: 2)")
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    if args.model.startswith(POOL_PREFIX):
        run(args)
        return
    pool_flag = next((name for name in POOL_FLAGS if getattr(args, name)), None)
    if pool_flag is not None:
        raise UsageError(
            f"--{pool_flag.replace('_', '-')} is for pools, such as {POOL_PREFIX}small."
        )
    import brittle

    _check_export(args)
    with console.training(args.quiet) as progress:
        folder = brittle.train(
            args.model,
            args.data,
            args.seed,
            device=args.device,
            size=args.size,
            changed=args.set,
            text=args.text,
            label=args.label,
            adversarial=_method(args),
            exclude=args.exclude,
            progress=progress,
            new=args.new,
        )
    if args.export:
        from brittle.zoo.generators.exporting import export

        folder = export(folder, Path(args.export))
    console.print_path(args, folder)


def _check_export(args: argparse.Namespace) -> None:
    """Refuse, before anything is trained, what could not be exported."""
    if not args.export:
        return
    from brittle.zoo.generators.exporting import check_folder
    from brittle.zoo.names import grid
    from brittle.zoo.names.parsing import split_name

    design = grid.design(split_name(args.model).model)
    if design.family.answers != "points":
        raise UsageError(f"--export is for generators; {design.name} is none. Leave it out.")
    check_folder(Path(args.export))


def _method(args: argparse.Namespace) -> AdversarialTraining | None:
    """Build the method of adversarial training with the settings among the flags."""
    flags = {name: getattr(args, name) for name in METHOD_FLAGS}
    settings = {name: value for name, value in flags.items() if value is not None}
    settings |= parsed_settings(args)
    if args.adversarial:
        from brittle.training.adversarial.methods import parse_method

        return parse_method(args.adversarial, device=args.device, **settings)
    if settings:
        raise UsageError(
            f"--{next(iter(settings))} is a setting of adversarial training. Name the method with "
            "--adversarial, such as --adversarial hotflip."
        )
    return None


def _attack_words(args: argparse.Namespace, rest: Sequence[str]) -> list[str]:
    from brittle.levels import LEVELS
    from brittle.training.adversarial.methods import METHODS

    method = (args.adversarial or "").partition(",")[0]
    return [] if method.lower() in (*METHODS, *LEVELS) else [method]


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    _attack_words,
    own_settings=("share", "edits"),
    usual=USUAL,
    details=DETAILS,
    resumes=True,
)
