"""`brittle explain words` and `brittle explain nearest`: what a model relies on, and why.

`brittle explain words`: how much the models of a pool rely on each word of a sentence. `brittle
explain nearest`: the words nearest to a word, before an edit and after it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.attack_flags import open_run_target, open_target
from brittle.cli.command import Command, add_output_flags, add_target_flags, positive
from brittle.cli.console import shown
from brittle.cli.study_flags import POOL_HELP
from brittle.errors import UsageError
from brittle.safety.files import write_whole

if TYPE_CHECKING:
    from brittle.runs.run import Run

WORDS_EXAMPLES = """\
examples:
  brittle explain words pool:small "A warm and funny film with a great story." --data mr
  brittle explain words pool:small "A warm and funny film." --data mr --word funny
  brittle explain words pool:mine.txt "A warm and funny film." --data mr --out page.html
  brittle explain words zoo:naive-bayes@mr "A warm and funny film." --label positive --out map.svg
"""
SUFFIXES = (".html", ".svg")


def _add_words_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "pool",
        metavar="POOL",
        help=POOL_HELP,
    )
    add("sentence", metavar="SENTENCE", help="the text, in quotes")
    word = "show the substitutes of this word instead of all words"
    add("--word", metavar="W", help=word)
    add("--label", help="the true label (default: the label that most of the models predict)")
    add("--data", help="the data that the models of a pool were trained on, such as mr")
    mask = "what the models read for an unknown word (default: each model has its own way)"
    add("--mask", metavar="MASK", help=mask)
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    out = "write the heat map as a page (.html) or as a figure (.svg)"
    add("--out", type=Path, metavar="FILE", help=out)
    add_output_flags(parser)


def _run_words(args: argparse.Namespace) -> None:
    from rich.console import Group

    from brittle.studies.importance import (
        importance,
        importance_drawing,
        importance_json,
        importance_view,
    )

    if args.out is not None and args.out.suffix not in SUFFIXES:
        raise UsageError(
            f"Got --out {shown(args.out)}; expected a file that ends in .html or .svg."
        )
    result = importance(
        args.pool,
        args.sentence,
        word=args.word,
        label=args.label,
        data=args.data,
        mask=args.mask,
        device=args.device,
        progress=lambda name: None if args.quiet or args.json else console.tell(name),
    )
    view = importance_view(result)
    if args.out is not None:
        is_page = args.out.suffix == ".html"
        write_whole(args.out, view.html() if is_page else importance_drawing(result).file())
    if not args.quiet:
        for name, reason in result.failures.items():
            console.tell(f"Left out: {name}. {reason}")
    written = [] if args.out is None else [f"\n{shown(args.out)}"]
    console.print_result(
        args, lambda: importance_json(result), lambda: Group(view.block(), *written)
    )


WORDS = Command(WORDS_EXAMPLES, _add_words_flags, _run_words)


NEAREST_EXAMPLES = """\
examples:
  brittle explain nearest zoo:CharCNN-LSTM@mr film filn
  brittle explain nearest zoo:CharCNN-LSTM@mr film --layer "highway 1" --k 10
  brittle explain nearest --run demo            (words that single edits of a run changed)
"""


def _add_nearest_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "target",
        metavar="TARGET",
        nargs="?",
        help="the model to ask (see brittle attack --help-all)",
    )
    add("word", metavar="WORD", nargs="?", help="one word")
    add("edited", metavar="EDITED", nargs="?", help="the same word after an edit")
    add("--run", help="use the words that a run changed by one character")
    layer = "the layer of the target (default: the last that reads the spelling, or the first)"
    add("--layer", help=layer)
    add("--k", type=positive, default=5, metavar="N", help="show N nearest words (default: 5)")
    most = "look only at the N most frequent words of the vocabulary (default: 20000)"
    add("--most", type=positive, default=20_000, metavar="N", help=most)
    pairs = "with --run: use at most N edited words (default: 8)"
    add("--pairs", type=positive, default=8, metavar="N", help=pairs)
    add_target_flags(parser)
    add_output_flags(parser)


def _run_nearest(args: argparse.Namespace) -> None:
    from brittle.inside.nearest import nearest, nearest_of_run

    looking: dict[str, Any] = {"layer": args.layer, "k": args.k, "most": args.most}
    if args.run is None:
        found = nearest(_target_of_words(args), args.word, args.edited, **looking)
    else:
        target, run = _from_run(args)
        found = nearest_of_run(run, target, pairs=args.pairs, **looking)
    console.print_result(args, found.plain, found.block)


def _target_of_words(args: argparse.Namespace) -> Any:
    """Open the target that is named with a word."""
    if args.target is None or args.word is None:
        raise UsageError(
            "Expected a target and a word, or --run RUN, such as: brittle explain nearest "
            "zoo:CharCNN-LSTM@mr film filn"
        )
    return open_target(args)


def _from_run(args: argparse.Namespace) -> tuple[Any, Run]:
    """Open the target of a run; return it with the run, whose edits were looked at before."""
    from brittle.inside.nearest import pairs_of_run
    from brittle.runs.run import open_run

    if args.word is not None:
        raise UsageError("Got --run and words of your own. Give one of the two.")
    run = open_run(args.run, args.runs)
    pairs_of_run(run, args.pairs)  # says what is wrong before a model is loaded
    return open_run_target(run, args), run


NEAREST = Command(
    NEAREST_EXAMPLES,
    _add_nearest_flags,
    _run_nearest,
    usual=("run", "layer", "k", "most", "pairs", "runs", "json", "quiet"),
)
