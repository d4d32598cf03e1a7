"""`brittle nearest`: the words nearest to a word, before an edit and after it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from functools import partial
from typing import Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, add_target_flags, positive
from brittle.cli.targets import open_run_target, open_target
from brittle.errors import UsageError
from brittle.formatting import plural

EXAMPLES = """\
examples:
  brittle nearest zoo:CharCNN-LSTM@mr film filn
  brittle nearest zoo:CharCNN-LSTM@mr film --layer "highway 1" --k 10
  brittle nearest --run demo                       (words that single edits of a run changed)
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", nargs="?", help="as for brittle attack")
    add("word", metavar="WORD", nargs="?", help="one word")
    add("edited", metavar="EDITED", nargs="?", help="the same word, edited")
    add("--run", help="instead of words: those that a run changed by one edit of a character")
    layer = "a layer of the target (default: the last one that reads the spelling, or the first)"
    add("--layer", help=layer)
    add("--k", type=positive, default=5, metavar="N", help="show N nearest words (default: 5)")
    most = "look among the N most frequent words of the vocabulary (default: 20000)"
    add("--most", type=positive, default=20_000, metavar="N", help=most)
    pairs = "with --run: at most N edited words (default: 8)"
    add("--pairs", type=positive, default=8, metavar="N", help=pairs)
    add_target_flags(parser)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.reports.nearest import changes_block, neighbours_block
    from brittle.studies.representation import embed_vocabulary

    target, pairs = _from_words(args) if args.run is None else _from_run(args)
    vocabulary = embed_vocabulary(target, args.layer, args.most)
    if pairs:
        changes = [vocabulary.change(old, new, args.k) for old, new in pairs]
        rows = [asdict(change) | {"is_lost": change.is_lost} for change in changes]
        data: dict[str, Any] = {"layer": vocabulary.layer, "changes": rows}
        shown = partial(changes_block, changes, is_run=args.run is not None)
    else:
        near = vocabulary.nearest(args.word, args.k)
        data = {"layer": vocabulary.layer, "word": args.word, "nearest": list(map(asdict, near))}
        shown = partial(neighbours_block, args.word, near)
    about = f"{target.name}, layer {vocabulary.layer}, {plural(len(vocabulary.words), 'words')}"
    console.print_result(args, lambda: data, lambda: shown(about))


def _from_words(args: argparse.Namespace) -> tuple[Any, list[tuple[str, str]]]:
    """Open the target; return it with the word and its edited form, if there is one."""
    if args.target is None or args.word is None:
        raise UsageError(
            "Expected a target and a word, or --run RUN, such as: brittle nearest "
            "zoo:CharCNN-LSTM@mr film filn"
        )
    return open_target(args), [] if args.edited is None else [(args.word, args.edited)]


def _from_run(args: argparse.Namespace) -> tuple[Any, list[tuple[str, str]]]:
    """Open the target of a run; return it with the words that the clearest edits changed."""
    from brittle.runs.run import open_run
    from brittle.studies.representation import edited_words

    if args.word is not None:
        raise UsageError("Got --run and words of your own. Give one of the two.")
    run = open_run(args.run, args.runs)
    pairs = edited_words(run.results(), args.pairs)
    if not pairs:
        raise UsageError(
            f"In the run {run.name!r} no broken case changed a word by one character. Use a run of "
            "hotflip, key or key-any."
        )
    return open_run_target(run, args), pairs


COMMAND = Command(EXAMPLES, _add_flags, _run)
