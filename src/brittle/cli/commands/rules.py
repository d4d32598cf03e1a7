"""`brittle rules`: mine replacements that fool many models, look at them, check data for them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from brittle.cli import console
from brittle.cli.command import Command, add_data_flags, add_output_flags, positive
from brittle.cli.commands import mine_rules, try_rules
from brittle.cli.paths import shown
from brittle.errors import UsageError
from brittle.files import replacing

if TYPE_CHECKING:
    from brittle.proposals.rules import Rules

EXAMPLES = """\
examples:
  brittle rules mine ensemble:LSTM-W-Random-1,CNN-C-Random-1@mr --data mr --out mr.rules
  brittle rules mine --method pmi --data mr --out pmi.rules     (from word counts, no model)
  brittle rules show mr.rules --label positive --count 20
  brittle rules try pool:small --rules mr.rules pmi.rules --data mr
  brittle rules check --rules mr.rules --data reviews.csv       (what a corpus is exposed to)
  brittle rules export mr.rules --to csv > rules.csv
  brittle attack zoo:BiLSTM-W-GloVe-1@mr rules --rules mr.rules --share 0.3 --data mr
"""
FORMATS = ("csv", "jsonl", "md")


def _add_flags(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (about, add_flags, _) in ACTIONS.items():
        add_flags(actions.add_parser(name, help=about, description=f"{about.capitalize()}."))


def _run(args: argparse.Namespace) -> None:
    ACTIONS[args.action][2](args)


def _show_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("rules", metavar="FILE", help="a file of rules")
    add("--label", help="only the rules of this label")
    add("--word", help="only the rules with this word, or this substitute")
    add("--count", type=positive, default=20, metavar="N", help="the first N (default: 20)")
    add_output_flags(parser)


def _show(args: argparse.Namespace) -> None:
    from brittle.studies.rules.view import choose_rules, rules_json, rules_view

    rules = _load(args.rules)
    chosen = choose_rules(rules, args.label, args.word)
    console.print_result(
        args,
        lambda: rules_json(rules, chosen, args.count),
        lambda: rules_view(rules, chosen, args.count).block(),
    )


def _check_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rules", required=True, metavar="FILE", help="a file of rules")
    names = ("data", "split", "text", "label", "limit")
    known, limit = "labelled data: a name or a file", "look at N texts (default: all)"
    add_data_flags(parser, *names, data=known, limit=limit)
    add("--count", type=positive, default=10, metavar="N", help="show N rules (default: 10)")
    add_output_flags(parser)


def _check(args: argparse.Namespace) -> None:
    from brittle import data
    from brittle.studies.rules.exposure import exposure
    from brittle.studies.rules.view import exposure_json, exposure_view

    rules = _load(args.rules)
    text = args.text.split(",") if args.text else None
    dataset = data.load(args.data, split=args.split, text=text, label=args.label, limit=args.limit)
    found = exposure(rules, dataset)
    console.print_result(
        args,
        lambda: exposure_json(found, args.count),
        lambda: exposure_view(found, args.count).block(),
    )


def _export_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("rules", metavar="FILE", help="a file of rules")
    to = "the format (default: what --out ends in, or csv)"
    add("--to", choices=FORMATS, help=to)
    add("--out", metavar="FILE", help="write there instead of printing")
    exact = "of csv: leave cells as they are, also those that a spreadsheet would compute"
    add("--exact", action="store_true", help=exact)
    add_output_flags(parser)


def _export(args: argparse.Namespace) -> None:
    from brittle.proposals.rules import row_of
    from brittle.studies.export import rows_as

    rules = _load(args.rules)
    rows = [row_of(rule, rules.labels) for rule in rules.rules]
    if args.out is None:
        console.print_text(rows_as(rows, args.to or FORMATS[0], args.exact))
        return
    to = args.to or Path(args.out).suffix.removeprefix(".")
    if to not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise UsageError(
            f"Got --out {shown(args.out)}; expected a name that ends in {endings}, or --to."
        )
    with replacing(args.out) as new, new.open("w", encoding="utf-8", newline="") as file:
        file.write(rows_as(rows, to, args.exact))
    console.print_path(args, Path(args.out))


def _load(path: str) -> Rules:
    from brittle.proposals.rule_files import load_rules

    return load_rules(path)


Action = tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], None]]
ACTIONS: Mapping[str, Action] = {
    "mine": ("mine rules from an ensemble and labelled data", mine_rules.add_flags, mine_rules.run),
    "show": ("show the rules of a file", _show_flags, _show),
    "try": ("try rules on the models of a pool", try_rules.add_flags, try_rules.run),
    "check": ("check what a corpus is exposed to", _check_flags, _check),
    "export": ("export rules as a table", _export_flags, _export),
}
COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    resumes=True,
)
