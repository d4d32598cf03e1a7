"""`brittle list`: the runs, studies, attacks, goals, data sets, models, generators and pools."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.errors import BrittleError

Rows = list[dict[str, Any]]
ATTACK_NOTES = (
    "An attack that needs gradients, attention or embeddings needs a target that shows them (a "
    "network of the zoo, a transformers classifier, a torch module); pictures: it edits pictures, "
    "all others texts and pairs of texts; English: it proposes or checks English words. Settings: "
    "brittle attack TARGET ATTACK --help"
)


def _add_flags(parser: argparse.ArgumentParser) -> None:
    kinds = ("runs", "studies", "attacks", "goals", "data", "models", "generators", "pools")
    parser.add_argument("what", choices=kinds, help="what to list")
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    if args.what == "models":
        from brittle.cli.commands import models

        console.print_result(args, models.models_json, models.models_block)
        return
    if args.what == "pools":
        from brittle.cli.commands import pools

        console.print_result(args, pools.pools_json, pools.pools_block)
        return
    rows = LISTS[args.what](args.runs)
    empty = f"There are no {args.what} yet."
    block = _attacks_block if args.what == "attacks" else console.table
    console.print_result(args, lambda: rows, lambda: block(rows) if rows else empty)


def _run_rows(folder: str | Path) -> Rows:
    """List the runs of a folder, newest last; no result is loaded. Damaged ones are left out."""
    from brittle.runs.run import run_paths

    rows = []
    for path in run_paths(folder):
        try:
            rows.append(_run_row(path))
        except BrittleError as error:
            console.tell(f"Left out: {error}")
    return rows


def _run_row(path: Path) -> dict[str, Any]:
    from brittle.runs.run import Run

    run = Run(path)
    manifest, counts = run.manifest, run.counts()
    return {
        "run": run.name,
        **{name: manifest[name] for name in ("target", "attack", "data")},
        "cases": f"{sum(counts.values())}/{manifest['examples']}",
        "broken": counts.get("broken", 0),
        "started": manifest["started"],
    }


def _study_rows(folder: str | Path) -> Rows:
    """List the studies of a folder, newest last."""
    from brittle.studies.by_name import listed_row, readable_studies

    return [listed_row(name, study) for name, study in readable_studies(folder, console.tell)]


def _attack_rows(folder: str | Path) -> Rows:
    from brittle import attacks
    from brittle.attacks.needs import needs
    from brittle.attacks.registry import usable_attacks

    return [
        {
            "attack": name,
            "edits": f"{attacks.item_kind(attacks.recipe(name)) or 'text or picture'}s",
            "needs": ", ".join(needs(name)),
            "what it does": attacks.summary(attacks.recipe(name)),
            "settings": ", ".join(s.name for s in attacks.settings(attacks.recipe(name))),
        }
        for name in usable_attacks()
    ]


def _attacks_block(rows: Rows) -> Any:
    """Show the attacks; their settings are too many for a table."""
    from rich.console import Group

    shown = [{name: row[name] for name in ("attack", "needs", "what it does")} for row in rows]
    return Group(console.table(shown), "", ATTACK_NOTES)


def _goal_rows(folder: str | Path) -> Rows:
    from brittle.answers import SCORES, TEXTS
    from brittle.goals.catalogue import GOALS

    targets = {SCORES: "classifiers", TEXTS: "translators"}
    return [
        {
            "goal": name,
            "what it asks for": entry.about,
            "for": ", ".join(targets[kind] for kind in entry.judges),
            "example": shlex.quote(entry.example),
        }
        for name, entry in GOALS.items()
    ]


def _data_rows(folder: str | Path) -> Rows:
    from brittle import data

    return [
        {
            "data": entry.name,
            "what it is": entry.about,
            "labels": ", ".join(entry.labels),
            "package": entry.package,
            "installed": "yes" if entry.installed else "no",
        }
        for entry in data.names()
    ]


def _generator_rows(folder: str | Path) -> Rows:
    """List the generators that are there, then those that can be trained."""
    from brittle.zoo.generators.folder import known_generators
    from brittle.zoo.names import grid

    known = known_generators()
    rows = [
        {
            "generator": generator.name,
            "items": f"{generator.card.parts['item_kind']}s",
            "latent": generator.card.settings["latent"],
            "figures": generator.card.measures.get("summary", ""),
            "where": "shipped" if generator.shipped else "trained here",
        }
        for generator in known
    ]
    trained = {generator.card.name for generator in known}
    for name, (kind, about) in grid.GENERATORS.items():
        if name not in trained:
            own: dict[str, Any] = {"generator": name, "items": f"{kind}s", "latent": ""}
            command = f"brittle train {name} --data DATA"
            rows.append(own | {"figures": about, "where": f"not trained: {command}"})
    return rows


LISTS: Mapping[str, Callable[[str | Path], Rows]] = {
    "runs": _run_rows,
    "studies": _study_rows,
    "attacks": _attack_rows,
    "goals": _goal_rows,
    "data": _data_rows,
    "generators": _generator_rows,
}
COMMAND = Command(
    "example: brittle list runs\n\n"
    "For endpoints and programs, where queries are few, the attack to begin with is salient-swap.",
    _add_flags,
    _run,
)
