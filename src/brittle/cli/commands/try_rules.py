"""`brittle rules try`: how many texts rules turn wrong, by class of models and share of words."""

from __future__ import annotations

import argparse
from pathlib import Path

from brittle.cli import console
from brittle.cli.backend_flags import add_backend_flags, backend_of
from brittle.cli.command import add_data_flags, add_output_flags
from brittle.errors import Incomplete, UsageError
from brittle.formatting import plural


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
    from brittle.studies.pools import is_pool, load_pool, member_of
    from brittle.studies.rules.trying import try_rules
    from brittle.studies.rules.view import tried_json, tried_view

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
    console.print_result(
        args,
        lambda: tried_json(rows, forms, list(rules), failures),
        lambda: tried_view(rows, forms, list(rules)).block(),
    )
    if failures:
        reasons = "\n".join(f"  {name}: {reason}" for name, reason in failures.items())
        raise Incomplete(f"{plural(len(failures), 'targets')} could not be asked:\n{reasons}")
