"""What `brittle list models` and `list pools` say of models, pools, and what is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.zoo.families import family_of
from brittle.zoo.folder import TrainedModel, trained_models
from brittle.zoo.gradient_check import is_masked, mean_correlation
from brittle.zoo.names import grid
from brittle.zoo.names.grid import POOLS
from brittle.zoo.names.sizes import SIZES

Rows = list[dict[str, Any]]

USE = (
    "brittle train pool:NAME --data DATA trains the missing models of a pool. pool:FILE "
    "is your own pool: one target per line."
)
NAMES = (
    "Names of networks are ENCODER-INPUT-EMBEDDING-LAYERS, such as LSTM-W-GloVe-2. Add "
    "the head if it is not the encoder's default: BiLSTM-C-Random-1-mean. An average has "
    "no layers: Average-W-GloVe. A network reads a pair as one sequence; add -pair to "
    "encode the two sides separately: BiLSTM-W-GloVe-1-pair."
)
CARD_FACTS = (
    *("data", "seed", "size", "changed", "settings", "hardening", "labels"),
    *("epochs", "examples", "seconds"),
)
TUNED = {"model": "hf:NAME or a folder", "what it is": "any encoder of transformers, fine-tuned"}


@dataclass(frozen=True)
class Indented:
    """A part of a listing that stands further to the right: a line or a table."""

    part: str | Rows


Listing = list[str | Rows | Indented]
"""Lines and tables in their order."""


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


def list_models() -> Listing:
    """List the parts as tables, then models with names of their own, pools and trained models."""
    trained = trained_models()
    embeddings = _part_rows("embedding", grid.EMBEDDINGS)
    embeddings[0]["what it is"] += " (the only one for the input C)"
    embeddings[-1]["what it is"] += " (for the input WC only)"
    parts: Listing = [NAMES]
    for rows in (
        _encoder_rows(),
        _part_rows("input", grid.INPUTS),
        embeddings,
        _part_rows("head", grid.HEAD_NAMES),
        _part_rows("pair", grid.PAIRS),
    ):
        parts += ["", Indented(rows)]
    parts += ["", "Models with their own names:", "", Indented(_named_rows())]
    parts += ["", "Pools of models (brittle list pools shows their members):"]
    parts += ["", Indented(pool_rows(trained)), "", USE]
    if not trained:
        return [*parts, "", "Nothing is trained yet: brittle train NAME --data DATA."]
    return [*parts, "", "Trained:", "", Indented(_trained_rows(trained))]


def pools_json() -> Rows:
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


def list_pools() -> Listing:
    """List the pools as a table, then the members of each."""
    parts: Listing = [pool_rows(trained_models())]
    for name, (_, members) in POOLS.items():
        parts += ["", f"pool:{name}", Indented(", ".join(members))]
    return [*parts, "", USE]


def pool_rows(trained: Sequence[TrainedModel]) -> Rows:
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
