"""`brittle list models`: the parts of networks, the named models, the pools, what is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.padding import Padding

from brittle.cli import console
from brittle.cli.commands.pools import USE, pool_rows, pools_json
from brittle.training import TrainedModel, trained_models
from brittle.zoo.families import family_of
from brittle.zoo.gradient_check import is_masked, mean_correlation
from brittle.zoo.names import grid
from brittle.zoo.names.sizes import SIZES

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
