"""`brittle importance`: how much the models of a pool rely on each word of a sentence."""

from __future__ import annotations

import argparse
from pathlib import Path

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.cli.paths import shown
from brittle.errors import UsageError
from brittle.files import write_whole

EXAMPLES = """\
examples:
  brittle importance pool:small "A warm and funny film with a great story." --data mr
  brittle importance pool:small "A warm and funny film." --data mr --word funny
  brittle importance pool:mine.txt "A warm and funny film." --data mr --out page.html
  brittle importance zoo:naive-bayes@mr "A warm and funny film." --label positive --out map.svg
"""
SUFFIXES = (".html", ".svg")


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "pool",
        metavar="POOL",
        help="pool:NAME, pool:FILE, one target, or several separated by commas",
    )
    add("sentence", metavar="SENTENCE", help="the text, in quotes")
    word = "instead of all words: the substitutes of this word (its first occurrence)"
    add("--word", metavar="W", help=word)
    add("--label", help="the true label (default: what most of the models predict)")
    add("--data", help="what the models of a declared pool were trained on, such as mr")
    mask = "what the models read for an unknown word (default: each in its own way)"
    add("--mask", metavar="MASK", help=f"{mask}; as for brittle attack")
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    out = "write the heat map as a page (.html) or a figure (.svg)"
    add("--out", type=Path, metavar="FILE", help=out)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from rich.console import Group

    from brittle.studies.importance import word_importance
    from brittle.studies.importance_view import (
        importance_drawing,
        importance_json,
        importance_view,
    )

    if args.out is not None and args.out.suffix not in SUFFIXES:
        raise UsageError(
            f"Got --out {shown(args.out)}; expected a file that ends in .html or .svg."
        )
    result = word_importance(
        args.pool,
        args.sentence,
        word=args.word,
        label=args.label,
        data=args.data,
        mask=args.mask,
        device=args.device,
        report=lambda name: None if args.quiet or args.json else console.tell(name),
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


COMMAND = Command(EXAMPLES, _add_flags, _run)
