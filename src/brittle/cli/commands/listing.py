"""`brittle list`: the runs, studies, attacks, goals, data sets, models, generators and pools.

`brittle list pools`: the declared pools, their members, and what is trained of them. `brittle list
models`: the parts of networks, the named models, the pools, what is trained.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.padding import Padding

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, positive
from brittle.errors import BrittleError, UsageError
from brittle.formatting import listed
from brittle.training import TrainedModel, trained_models
from brittle.zoo.families import family_of
from brittle.zoo.gradient_check import is_masked, mean_correlation
from brittle.zoo.names import grid
from brittle.zoo.names.grid import POOLS
from brittle.zoo.names.sizes import SIZES

USE = (
    "brittle train pool:NAME --data DATA trains what is missing of a pool. pool:FILE is one of "
    "your own: a target a line."
)


def pool_rows(trained: Sequence[TrainedModel]) -> list[dict[str, Any]]:
    """List the pools: how many members each has, and how many are trained on which data."""
    return [
        {
            "pool": f"pool:{name}",
            "what it is": about,
            "members": len(members),
            "trained": _trained_counts(members, trained) or "none",
        }
        for name, (about, members) in POOLS.items()
    ]


def pools_json() -> list[dict[str, Any]]:
    """Return the pools with their members, and the names of those that are trained."""
    trained = trained_models()
    return [
        {
            "pool": f"pool:{name}",
            "what it is": about,
            "members": list(members),
            "trained": [model.spec for model in trained if _is_of(model, members)],
        }
        for name, (about, members) in POOLS.items()
    ]


def pools_block() -> Any:
    """Show the pools as a table, then the members of each."""
    parts: list[Any] = [console.table(pool_rows(trained_models()))]
    for name, (_, members) in POOLS.items():
        parts += ["", f"pool:{name}", Padding(", ".join(members), (0, 0, 0, 2))]
    return Group(*parts, "", USE)


def _trained_counts(members: Sequence[str], trained: Sequence[TrainedModel]) -> str:
    """Format how many members are trained on each data set, and with which seeds.

    Those of another size or with changed settings are not counted: a pool does not name them.
    """
    names: dict[tuple[str, int], set[str]] = {}
    for model in trained:
        if _is_of(model, members):
            names.setdefault((model.data, model.seed), set()).add(model.name)
    return ", ".join(
        f"{len(of_seed)} on {data}#{seed}" for (data, seed), of_seed in sorted(names.items())
    )


def _is_of(model: TrainedModel, members: Sequence[str]) -> bool:
    card = model.card
    return card.name in members and card.size == "default" and not card.changed


Rows = list[dict[str, Any]]
NAMES = (
    "A network is named ENCODER-INPUT-EMBEDDING-LAYERS, such as LSTM-W-GloVe-2. A head that is not "
    "the encoder's default is added to the name: BiLSTM-C-Random-1-mean. An average has no layers: "
    "Average-W-GloVe. A network reads a pair as one sequence, or its two sides apart: "
    "BiLSTM-W-GloVe-1-pair."
)
CARD_FACTS = (
    *("data", "seed", "size", "changed", "settings", "hardening", "labels"),
    *("epochs", "examples", "seconds"),
)
INDENT = 2  # columns before a table
TUNED = {"model": "hf:NAME or a folder", "what it is": "any encoder of transformers, tuned"}


def models_json() -> dict[str, Any]:
    """Return everything that is known of the models, as plain data."""
    trained = trained_models()
    return {
        "parts": {
            "encoders": {
                name: {
                    "what it is": about,
                    "layers": list(grid.LAYERS[name]),
                    "own head": grid.DEFAULT_HEAD[name],
                }
                for name, about in grid.ENCODER_NAMES.items()
            },
            "inputs": dict(grid.INPUTS),
            "embeddings": dict(grid.EMBEDDINGS),
            "heads": dict(grid.HEAD_NAMES),
            "pairs": dict(grid.PAIRS),
            "sizes": list(SIZES),
        },
        "models": [
            {
                "model": design.name,
                "what it is": design.about,
                "kind": design.kind,
                "parts": dict(design.parts),
                "settings": grid.as_json(grid.settings(design)),
                "trained": [model.spec for model in trained if model.name == design.name],
            }
            for design in grid.designs()
        ],
        "pools": pools_json(),
        "trained": [_trained_json(model) for model in trained],
    }


def models_block() -> Any:
    """Show the parts as tables, then models with names of their own, pools and trained models."""

    def indented(rows: Rows) -> list[Any]:
        return ["", Padding(console.table(rows), (0, 0, 0, INDENT), expand=False)]

    trained = trained_models()
    embeddings = _part_rows("embedding", grid.EMBEDDINGS)
    embeddings[0]["what it is"] += " (the only one for the input C)"
    embeddings[-1]["what it is"] += " (for the input WC only)"
    parts = [
        NAMES,
        *indented(_encoder_rows()),
        *indented(_part_rows("input", grid.INPUTS)),
        *indented(embeddings),
        *indented(_part_rows("head", grid.HEAD_NAMES)),
        *indented(_part_rows("pair", grid.PAIRS)),
        *("", "Models with names of their own:", *indented(_named_rows())),
        *("", "Pools of models (brittle list pools shows their members):"),
        *(*indented(pool_rows(trained)), "", USE),
    ]
    if trained:
        parts += ["", "Trained:", *indented(_trained_rows(trained))]
    else:
        parts += ["", "Nothing is trained yet: brittle train NAME --data DATA."]
    return Group(*parts)


def _encoder_rows() -> Rows:
    return [
        {
            "encoder": name,
            "what it is": about,
            "layers": ", ".join(map(str, grid.LAYERS[name])),
            "default head": grid.DEFAULT_HEAD[name],
        }
        for name, about in grid.ENCODER_NAMES.items()
    ]


def _part_rows(kind: str, parts: Mapping[str, str]) -> Rows:
    return [{kind: name, "what it is": about} for name, about in parts.items()]


def _named_rows() -> Rows:
    rows = [
        {"model": design.name, "what it is": design.about}
        for design in grid.designs()
        if design.has_own_name
    ]
    return [*rows, TUNED]


def _trained_rows(trained: Sequence[TrainedModel]) -> Rows:
    return [
        {
            "name": model.spec,
            "dev accuracy": family_of(model.card).figure(model.card),
            "edits by gradient": _gradients(model),
            "parameters": f"{model.parameters:,}",
            "on disk": f"{model.size / 1e6:.1f} MB",
        }
        for model in trained
    ]


def _gradients(model: TrainedModel) -> str:
    """Format how well gradients rank edits: the mean of their rank correlations."""
    correlation = mean_correlation(model.card.gradients)
    mark = " (masked)" if is_masked(model.card.gradients) else ""
    return "-" if correlation is None else f"{correlation:.2f}{mark}"


def _trained_json(model: TrainedModel) -> dict[str, Any]:
    card = model.card
    return {
        "spec": model.spec,
        "model": card.name,
        **{name: getattr(card, name) for name in CARD_FACTS},
        "dev accuracy": card.dev_accuracy,
        "perplexity": dict(card.perplexity),
        "dev BLEU": card.dev_bleu,
        "gradients": dict(card.gradients),
        "parameters": model.parameters,
        "bytes": model.size,
        "folder": str(model.path),
    }


ATTACK_NOTES = (
    "An attack that needs gradients, attention or embeddings needs a target that shows them (a "
    "network of the zoo, a transformers classifier, a torch module); pictures: it edits pictures, "
    "all others texts and pairs of texts; English: it proposes or checks English words. Settings: "
    "brittle attack TARGET ATTACK --help"
)


KINDS = ("runs", "studies", "attacks", "goals", "data", "models", "generators", "pools", "rules")


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("what", choices=KINDS, metavar="WHAT", help=listed(KINDS, "or"))
    add("file", metavar="FILE", nargs="?", help="for rules: a file that brittle rules mine wrote")
    add = parser.add_argument_group("for rules").add_argument
    add("--label", help="show only the rules of this label")
    add("--word", help="show only the rules with this word, or with this substitute")
    add("--count", type=positive, default=20, metavar="N", help="show N rules (default: 20)")
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    if args.what == "rules":
        from brittle.cli.commands.rules import list_rules

        if args.file is None:
            raise UsageError(
                "brittle list rules needs a file of rules, for example: brittle list rules mr.rules"
            )
        list_rules(args)
        return
    for name, value in (("file", args.file), ("label", args.label), ("word", args.word)):
        if value is not None:
            given = repr(value) if name == "file" else f"--{name}"
            raise UsageError(f"brittle list {args.what} takes no {given}: that is for rules.")
    if args.what == "models":
        console.print_result(args, models_json, models_block)
        return
    if args.what == "pools":
        console.print_result(args, pools_json, pools_block)
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
    from brittle.goals.parsing import GOALS

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
    "examples:\n  brittle list runs\n  brittle list attacks\n"
    "  brittle list rules mr.rules --label positive",
    _add_flags,
    _run,
)
