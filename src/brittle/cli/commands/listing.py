"""`brittle list`: the runs, studies, attacks, goals, data sets, models, generators and pools."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, positive
from brittle.errors import BrittleError, UsageError
from brittle.formatting import listed

if TYPE_CHECKING:
    from rich.console import Group

    from brittle.training.listing import Listing

Rows = Sequence[dict[str, Any]]

INDENT = 2  # columns
ATTACK_NOTES = (
    "An attack that needs gradients, attention or embeddings needs a target that shows them (a "
    "network of the zoo, a transformers classifier, a torch module); pictures: it edits pictures, "
    "all others texts and pairs of texts; English: it proposes or checks English words. Settings: "
    "brittle attack TARGET ATTACK --help"
)


KINDS = ("runs", "studies", "attacks", "goals", "data", "models", "generators", "pools", "rules")


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("what", choices=KINDS, metavar="KIND", help=listed(KINDS, "or"))
    add("file", metavar="FILE", nargs="?", help="for rules: a file that brittle rules mine wrote")
    add = parser.add_argument_group("for rules").add_argument
    add("--label", help="show only the rules of this label")
    add("--word", help="show only the rules with this word, or with this substitute")
    add("--count", type=positive, default=20, metavar="N", help="show N rules (default: 20)")
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    if args.what == "rules":
        _list_rules(args)
        return
    for name, value in (("file", args.file), ("label", args.label), ("word", args.word)):
        if value is not None:
            given = repr(value) if name == "file" else f"--{name}"
            raise UsageError(f"brittle list {args.what} takes no {given}: that is for rules.")
    if args.what in ("models", "pools"):
        from brittle.training import listing

        as_json, as_parts = {
            "models": (listing.models_json, listing.list_models),
            "pools": (listing.pools_json, listing.list_pools),
        }[args.what]
        console.print_result(args, as_json, lambda: _block(as_parts()))
        return
    rows = LISTS[args.what](args.runs)
    empty = f"There are no {args.what} yet."
    block = _attacks_block if args.what == "attacks" else console.table
    console.print_result(args, lambda: rows, lambda: block(rows) if rows else empty)


def _list_rules(args: argparse.Namespace) -> None:
    from brittle.cli.commands.rules import list_rules

    if args.file is None:
        raise UsageError(
            "brittle list rules needs a file of rules, for example: brittle list rules mr.rules"
        )
    list_rules(args)


def _block(listing: Listing) -> Group:
    """Show lines and tables from top to bottom."""
    from rich.console import Group
    from rich.padding import Padding

    from brittle.training.listing import Indented

    def shown(part: str | Rows) -> Any:
        return part if isinstance(part, str) else console.table(part)

    return Group(
        *(
            Padding(shown(part.part), (0, 0, 0, INDENT), expand=isinstance(part.part, str))
            if isinstance(part, Indented)
            else shown(part)
            for part in listing
        )
    )


def _attacks_block(rows: Rows) -> Group:
    """Show the attacks; their settings are too many for a table."""
    from rich.console import Group

    shown = [{name: row[name] for name in ("attack", "needs", "what it does")} for row in rows]
    return Group(console.table(shown), "", ATTACK_NOTES)


def _run_rows(folder: str | Path) -> Rows:
    """List the runs of a folder, newest last; no result is loaded. Damaged ones are left out."""
    from brittle.runs.run import listed_row, run_paths

    rows = []
    for path in run_paths(folder):
        try:
            rows.append(listed_row(path))
        except BrittleError as error:
            console.tell(f"Left out: {error}")
    return rows


def _study_rows(folder: str | Path) -> Rows:
    """List the studies of a folder, newest last."""
    from brittle.studies.by_name import listed_row, readable_studies

    return [listed_row(name, study) for name, study in readable_studies(folder, console.tell)]


def _attack_rows(folder: str | Path) -> Rows:
    from brittle.attacks.needs import attack_rows

    return attack_rows()


def _goal_rows(folder: str | Path) -> Rows:
    from brittle.goals.parsing import goal_rows

    return goal_rows()


def _data_rows(folder: str | Path) -> Rows:
    from brittle import data

    return data.listed_rows()


def _generator_rows(folder: str | Path) -> Rows:
    from brittle.zoo.generators.folder import generator_rows

    return generator_rows()


LISTS: Mapping[str, Callable[[str | Path], Rows]] = {
    "runs": _run_rows,
    "studies": _study_rows,
    "attacks": _attack_rows,
    "goals": _goal_rows,
    "data": _data_rows,
    "generators": _generator_rows,
}
COMMAND = Command(
    "examples:\n  brittle list runs\n  brittle list attacks\n"
    "  brittle list rules mr.rules --label positive",
    _add_flags,
    _run,
)
