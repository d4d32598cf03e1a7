"""The commands that study: nearest words, and papers beside our figures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from brittle.errors import UsageError


def nearest(args: argparse.Namespace) -> None:
    """`brittle nearest`."""
    from brittle.cli import console
    from brittle.studies.representation import embed_vocabulary

    target, pairs = _from_run(args) if args.run is not None else _from_words(args)
    words = embed_vocabulary(target, args.layer, args.most)
    told = f"{target.name}, layer {words.layer}, {len(words.words):,} words"
    if pairs:
        changes = [words.change(old, new, args.k) for old, new in pairs]
        rows = [asdict(change) | {"is_lost": change.is_lost} for change in changes]
        shown = changes_table(changes) if args.run is not None else _side_by_side(changes[0])
        found = {"layer": words.layer, "changes": rows}
    else:
        near = words.nearest(str(args.word), args.k)
        shown = _list(str(args.word), near)
        found = {"layer": words.layer, "word": args.word, "nearest": [asdict(n) for n in near]}
    if args.json:
        console.dump(found)
    elif not args.quiet:
        console.show(told)
        console.show(shown)


def _from_words(args: argparse.Namespace) -> tuple[Any, list[tuple[str, str]]]:
    """Open the target; the words are those given, if both are."""
    from brittle.cli import open_target as opened

    if args.target is None or args.word is None:
        raise UsageError(
            "Expected a target and a word, or --run RUN, such as: brittle nearest "
            "zoo:CharCNN-LSTM@mr film filn"
        )
    return opened(args), [] if args.edited is None else [(args.word, args.edited)]


def _from_run(args: argparse.Namespace) -> tuple[Any, list[tuple[str, str]]]:
    """Open the target of a run; the words are those that its clearest edits changed."""
    from brittle.cli import open_run_target as opened
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
    return opened(run, args), pairs


def papers(args: argparse.Namespace) -> None:
    """`brittle papers`."""
    from brittle.cli import console
    from brittle.papers.reproduce import build_request, reproduce
    from brittle.zoo.device import cores

    request = build_request(args.paper, args.scale, args.data, args.words, args.cases, args.seed)
    folder = args.folder or Path(args.runs) / "papers" / f"{request.paper}-{request.scale}"
    done = reproduce(
        request,
        Path(folder),
        Path(args.out),
        only=args.only,
        workers=args.jobs or cores(),
        report=(lambda message: None) if args.quiet else console.tell,
    )
    if args.json:
        console.dump(done.figures)
    elif not args.quiet and done.page is None:
        console.show(f"Not written: {len(done.left)} steps are left, such as {done.left[0]!r}.")
    elif not args.quiet:
        console.show(f"Page: {done.page}")


def nearest_words(run: Any, target: Any, k: int = 5, most: int = 12) -> str:
    """Make the report's section on the nearest words of the words a run's edits changed."""
    from brittle.reports.nearest import nearest_section
    from brittle.studies.representation import edited_words, embed_vocabulary

    words = embed_vocabulary(target)
    changes = [words.change(old, new, k) for old, new in edited_words(run.results(), most)]
    rows = [
        (c.word, c.edited, [n.word for n in c.before], [n.word for n in c.after]) for c in changes
    ]
    return nearest_section(rows, words.layer)


def changes_table(changes: Sequence[Any]) -> Any:
    """Make a table of edits, each with the words nearest before and after it."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in ("edit", "nearest before", "nearest after", "nearer than the original"):
        made.add_column(name, overflow="fold")
    for change in changes:
        made.add_row(
            Text(f"{change.word} → {change.edited}", style="bold"),
            ", ".join(n.word for n in change.before),
            ", ".join(n.word for n in change.after),
            f"{change.rank:,} words",
        )
    return made


def _side_by_side(change: Any) -> Any:
    from rich.console import Group
    from rich.table import Table

    made = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False)
    for word in (change.word, change.edited):
        made.add_column(word, overflow="fold")
        made.add_column("cosine", justify="right", style="dim")
    for old, new in zip(change.before, change.after):
        made.add_row(old.word, f"{old.cosine:.3f}", new.word, f"{new.cosine:.3f}")
    told = f"{change.rank:,} words are nearer to {change.edited} than {change.word} is"
    return Group(made, f"{told} (cosine {change.cosine:.3f}).")


def _list(word: str, found: Sequence[Any]) -> Any:
    from rich.table import Table

    made = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False)
    made.add_column(word, overflow="fold")
    made.add_column("cosine", justify="right", style="dim")
    for one in found:
        made.add_row(one.word, f"{one.cosine:.3f}")
    return made
