"""`brittle annotate`: pages on which people read adversarial examples, and the key to them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, positive
from brittle.cli.paths import shown
from brittle.formatting import plural
from brittle.validity.presets import PRESETS, STANDARD

if TYPE_CHECKING:
    from brittle.validity.people import Pages

EXAMPLES = """\
examples:
  brittle annotate demo --count 100 --people 2
  brittle annotate demo --people 3                  (the same sample, with a third page)
  brittle annotate demo --preset hotflip --count 600 --people 3
  brittle annotate lenet --beside forest --preset natural-pictures --count 20 --people 13

presets, the last five as in papers:
{presets}

Send each person one page; it opens from disk, loads nothing, and saves a file. Keep the key, which
says what is what. Then: brittle validity RUN FILE…
""".format(presets="\n".join(f"  {name:<18} {one.about}" for name, one in PRESETS.items()))


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the name of a run, the start of it, or its file")
    count = "how many items each person reads, if as many cases are broken (default: 100)"
    add("--count", type=positive, default=100, metavar="N", help=count)
    people = "how many people read; all of them read all items (default: 2)"
    add("--people", type=positive, default=2, metavar="N", help=people)
    about = "what is asked; see below (default: standard)"
    add("--preset", default=STANDARD, choices=tuple(PRESETS), metavar="PRESET", help=about)
    beside = "another run on the same data, for presets that compare two"
    add("--beside", metavar="RUN", help=beside)
    add("--seed", type=int, default=0, help="another seed draws another sample (default: 0)")
    out = "the folder of the pages (default: the name of the run, with -pages)"
    add("--out", type=Path, metavar="FOLDER", help=out)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.runs.run import open_run

    run = open_run(args.run, args.runs)
    beside = None if args.beside is None else open_run(args.beside, args.runs)
    out = args.out or Path(f"{run.name}-pages")
    settings = {"count": args.count, "people": args.people, "seed": args.seed}
    pages = run.annotate(out, preset=args.preset, beside=beside, **settings)
    items = len(pages.sample.items)
    if items < args.count and not args.quiet:
        console.tell(
            f"Each page has {plural(items, 'items')}, not {args.count}: no more cases are broken."
        )
    console.print_result(args, lambda: _json(pages), lambda: _lines(pages))


def _json(pages: Pages) -> dict[str, Any]:
    return {
        "sample": pages.sample.id,
        "preset": pages.sample.preset,
        "items": len(pages.sample.items),
        "first_panels": _counts(pages),
        "pages": [shown(page) for page in pages.pages],
        "key": shown(pages.key),
    }


def _counts(pages: Pages) -> dict[str, int]:
    roles = [item.panels[0].role for item in pages.sample.items]
    return {role: roles.count(role) for role in dict.fromkeys(sorted(roles))}


def _lines(pages: Pages) -> str:
    counts = ", ".join(f"{role} {count}" for role, count in _counts(pages).items())
    lines = [
        f"sample {pages.sample.id}: {plural(len(pages.sample.items), 'items')}, the same for "
        f"everybody, in another order for each (asked about first: {counts})",
        *(f"  {shown(page)}" for page in pages.pages),
        f"The key, for you alone: {shown(pages.key)}",
    ]
    return "\n".join(lines)


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
)
