"""`brittle rules try`: how many texts rules turn wrong, by class of models and share of words."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.backend_flags import add_backend_flags, backend_of
from brittle.cli.command import add_data_flags, add_output_flags
from brittle.errors import Incomplete, UsageError
from brittle.formatting import percent, plural

if TYPE_CHECKING:
    from brittle.metrics.summary import Figure
    from brittle.studies.rules.evaluation import RuledText


def add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "pool",
        metavar="POOL",
        help="pool:NAME, pool:FILE, one target, or several separated by commas",
    )
    rules = "files of rules; several are compared on the same texts"
    add("--rules", required=True, nargs="+", metavar="FILE", help=rules)
    add_data_flags(
        parser,
        data="labelled data: a name or a file",
        locked={"default": None},
        limit={"default": 1000, "help": "try N texts (default: 1000)"},
        seed="the seed of their order (default: 0)",
    )
    add_backend_flags(parser)
    add("--folder", help="the folder of what was answered (default: rules-tried in --runs)")
    add_output_flags(parser)


def run(args: argparse.Namespace) -> None:
    from rich.console import Group

    from brittle.formatting import attack_in_words
    from brittle.studies.pools import is_pool, load_pool, member_of
    from brittle.studies.rules.evaluation import SHARES
    from brittle.studies.rules.exposure import MATCHED
    from brittle.studies.rules.trying import try_rules

    members = (
        load_pool(args.pool, args.data).members
        if is_pool(args.pool)
        else (member_of(args.pool, args.data, 1),)
    )
    rules = {Path(file).stem: Path(file) for file in args.rules}
    if len(rules) < len(args.rules):
        raise UsageError("Two files of rules have the same name. Rename one of them.")
    names = ("data", "split", "text", "label", "locked", "limit", "seed")
    data = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    folder = Path(args.folder or Path(args.runs) / "rules-tried")
    report = (lambda message: None) if args.quiet else console.tell
    rows, failures = try_rules(members, rules, data, folder, report, backend_of(args))
    forms = {member.name: member.form for member in members}
    settings = {"share": max(SHARES), **MATCHED}
    console.print_result(
        args,
        lambda: {
            "settings": settings,
            "failures": failures,
            "rules": {n: _json(rows, forms, n) for n in rules},
        },
        lambda: Group(
            attack_in_words("rules", settings),
            *(part for name in rules for part in _tables(rows, forms, name)),
        ),
    )
    if failures:
        reasons = "\n".join(f"  {name}: {reason}" for name, reason in failures.items())
        raise Incomplete(f"{plural(len(failures), 'targets')} could not be asked:\n{reasons}")


Rows = Mapping[str, Mapping[str, "list[RuledText]"]]


def _figures(rows: Sequence[RuledText], share: float) -> dict[str, Figure]:
    from brittle.studies.rules.evaluation import success, words_changed

    return {
        "first prefix": success(rows, share),
        "at the limit": success(rows, share, "limit"),
        "words changed": words_changed(rows, share),
    }


def _parts(rows: Rows, forms: Mapping[str, str], name: str) -> dict[str, dict[str, Any]]:
    """Return the figures of one set of rules: by class at the highest share, and by share."""
    from brittle.studies.rules.evaluation import ALL, SHARES, by_class

    classes = by_class({target: sets[name] for target, sets in rows.items()}, forms)
    return {
        "models": {form: _figures(own, max(SHARES)) for form, own in classes.items()},
        "share of words": {f"{share:.0%}": _figures(classes[ALL], share) for share in SHARES},
    }


def _json(rows: Rows, forms: Mapping[str, str], name: str) -> dict[str, Any]:
    return {
        part: {
            row: {what: asdict(figure) for what, figure in figures.items()}
            for row, figures in table.items()
        }
        for part, table in _parts(rows, forms, name).items()
    }


def _tables(rows: Rows, forms: Mapping[str, str], name: str) -> list[Any]:
    blocks: list[Any] = []
    for part, table in _parts(rows, forms, name).items():
        blocks.append(f"\n{name}, by {part} (of the texts that a target has right):")
        blocks.append(
            console.table(
                [
                    {part: row} | {what: _text(figure) for what, figure in figures.items()}
                    for row, figures in table.items()
                ]
            )
        )
    return blocks


def _text(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return percent(figure.value)
    return f"{percent(figure.value)} ({percent(figure.low)}–{percent(figure.high)})"
