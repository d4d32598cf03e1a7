"""`brittle augment`: write variants of examples that keep their labels, as data to train on."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_data_flags, add_output_flags, load_data, positive
from brittle.cli.console import shown
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.levels import LEVELS

if TYPE_CHECKING:
    from brittle.data import Dataset
    from brittle.training.augmenting import Variant

EXAMPLES = """\
examples:
  brittle augment mr --out mr-rewritten.csv
  brittle augment reviews.csv --level rewrite,typo --copies 2 --out more.csv
  brittle augment nli.csv --text premise,hypothesis --locked premise --out more.jsonl
  brittle augment reviews.csv --level careful --only-variants --out variants.csv

levels, from gentle to rough:
{levels}

The file has the text and label columns of the data, and two more columns: source, the number of the
example in the data (counted from 0), and level ("original", or the level of the edits). When you
split the file, keep the variants of an example together, or hold out a dev set first.
""".replace("{levels}", "\n".join(f"  {level.name:<12}{level.about}" for level in LEVELS.values()))


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("data", metavar="DATA", help="mr, imdb, bbc, a file, a folder of splits, or hf:NAME")
    level = "a level, or several separated by commas, as listed above (default: rewrite)"
    add("--level", default="rewrite", metavar="LEVEL[,LEVEL]", help=level)
    add("--out", required=True, metavar="FILE", help="the file to write: .csv or .jsonl")
    copies = "make N different variants of each example at each level (default: 1)"
    add("--copies", type=positive, default=1, metavar="N", help=copies)
    share = "change at most this share of the words or phrases that have candidates (default: 0.5)"
    add("--share", type=float, default=0.5, help=share)
    edits = "rewrite: make at most N rewrites in a text (default: 2)"
    add("--edits", type=positive, default=2, metavar="N", help=edits)
    add("--rules", metavar="FILE", help="rewrite: a TOML file with more rewrites")
    add("--only-variants", action="store_true", help="write no originals")
    add("--new", action="store_true", help="replace the file if it exists")
    add_data_flags(
        parser,
        *("split", "text", "label", "locked", "skip-bad", "limit", "seed"),
        split="train, dev or test (default: train)",
        text="the column of the texts; two columns are a pair: --text premise,hypothesis",
        limit="use N examples of a random order, or all (default: all)",
        seed="the seed of the edits (default: 0)",
    )
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.data import training_split
    from brittle.data.dataset import check_table_path
    from brittle.training.augmenting import AugmentSettings, variants

    path = Path(args.out)
    settings = AugmentSettings(
        args.level, args.copies, args.seed, args.share, args.edits, args.rules
    )
    check_table_path(path)
    if path.exists() and not args.new:
        raise UsageError(f"{path} exists. Add --new to replace it, or name another file.")
    args.split = args.split or training_split(args.data)
    dataset = load_data(args)
    for warning in dataset.warnings:
        console.tell(f"warning: {warning}")
    rows = dataset.rows_taken(args.limit, args.seed)
    with console.counting(args.quiet, "examples") as progress:
        found = variants(dataset, settings, rows, progress)
        counts, empty = _write(path, dataset, found, args.only_variants)
    written = {"written": shown(path), "rows": dict(counts), "without_variants": empty}
    console.print_result(args, lambda: written, lambda: _sentence(path, counts, empty), path)


def _write(
    path: Path, dataset: Dataset, found: Iterator[Variant], only_variants: bool
) -> tuple[Counter[str], int]:
    """Write the rows; return how many of each level, and how many examples have no variant."""
    from brittle.data.dataset import ExampleColumns, write_table
    from brittle.training.augmenting import ORIGINAL

    columns = ExampleColumns(dataset)
    source, level = (_free_name(name, columns.names) for name in ("source", "level"))
    counts: Counter[str] = Counter()
    examples: set[int] = set()
    edited: set[int] = set()

    def rows() -> Iterator[dict[str, Any]]:
        for variant in found:
            is_original = variant.level == ORIGINAL
            (examples if is_original else edited).add(variant.source)
            if not (is_original and only_variants):
                counts[variant.level] += 1
                about = {source: variant.source, level: variant.level}
                yield columns.row(variant.example) | about

    write_table(path, [*columns.names, source, level], rows())
    return counts, len(examples - edited)


def _free_name(name: str, taken: list[str]) -> str:
    """Return a name for a column that the data do not have yet."""
    while name in taken:
        name = f"augment_{name}"
    return name


def _sentence(path: Path, counts: Counter[str], empty: int) -> str:
    parts = ", ".join(f"{count:,} {level}" for level, count in counts.items())
    lines = f"{shown(path)}: {plural(counts.total(), ('row', 'rows'))} ({parts or 'none'})"
    if empty:
        none = plural(empty, ("example has", "examples have"))
        lines += f"\n{none} no word or phrase to change at this level."
    return lines


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    usual=("level", "out", "copies", "text", "label", "limit", "seed", "new", "json", "quiet"),
)
