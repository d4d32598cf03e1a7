"""`brittle importance`: how much the models of a pool rely on each word of a sentence."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.cli.paths import shown
from brittle.errors import UsageError
from brittle.files import write_whole
from brittle.formatting import plural

if TYPE_CHECKING:
    from brittle.reports.importance import Rows
    from brittle.studies.importance import Importance

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
    from brittle.studies.importance import word_importance

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
    if args.out is not None:
        write_whole(args.out, _page(result, args.out.suffix))
    if not args.quiet:
        for name, reason in result.failures.items():
            console.tell(f"Left out: {name}. {reason}")
    console.print_result(args, lambda: _json(result), lambda: _block(result, args.out))


def _rows(result: Importance) -> Rows:
    rows = [(name, row.tolist()) for name, row in zip(result.models, result.drop)]
    return [*rows, ("mean", result.mean.tolist())] if len(rows) > 1 else rows


def _facts(result: Importance) -> list[str]:
    models = plural(len(result.models), "models")
    agreeing = sum(label == result.label for label in result.predicted)
    source = "what most models predict" if result.is_majority else "as you say"
    changed = "the word becomes unknown"
    if result.word is not None:
        changed = f"{result.word!r} becomes the word of the column"
    return [
        f"gold label {result.label} ({source}); {agreeing} of {models} predict it",
        f"drop of its log likelihood when {changed}",
    ]


def _block(result: Importance, out: Path | None) -> Any:
    from rich.console import Console, Group
    from rich.text import Text

    from brittle.reports.importance import terminal_tables

    tables = terminal_tables(result.columns, _rows(result), Console().width)
    parts: list[Any] = [Text(result.sentence), *(Text(f, style="dim") for f in _facts(result))]
    for table in tables:
        parts += [Text(""), table]
    return Group(*parts, *([Text(f"\n{shown(out)}")] if out is not None else []))


def _page(result: Importance, suffix: str) -> str:
    from brittle.reports.importance import importance_figure, importance_page
    from brittle.reports.standalone_svg import standalone_svg

    what = "Word importance" if result.word is None else f"Substitutes of {result.word}"
    if suffix == ".svg":
        return standalone_svg(importance_figure(result.columns, _rows(result), what))
    failures = [f"Left out: {name}. {reason}" for name, reason in result.failures.items()]
    facts = [result.sentence, *_facts(result)]
    return importance_page(what, facts, result.columns, _rows(result), failures)


def _json(result: Importance) -> dict[str, Any]:
    return {
        "sentence": result.sentence,
        "word": result.word,
        "label": result.label,
        "label_is_majority": result.is_majority,
        "columns": list(result.columns),
        "models": [
            {
                "model": name,
                "predicted": predicted,
                "log_likelihood": float(likelihood),
                "drop": drop.tolist(),
            }
            for name, predicted, likelihood, drop in zip(
                result.models, result.predicted, result.log_likelihood, result.drop
            )
        ],
        "mean": result.mean.tolist(),
        "failures": dict(result.failures),
    }


COMMAND = Command(EXAMPLES, _add_flags, _run)
