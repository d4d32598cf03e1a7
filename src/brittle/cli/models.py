"""`brittle list models`: the parts the zoo is made of, the models with names, what is trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brittle.cli.listing import Rows, table
from brittle.training import TrainedModel, trained_models
from brittle.zoo.names import grid

OTHERS = "hf:NAME or a folder"
NAMES = """\
Networks are named ENCODER-INPUT-EMBEDDING-LAYERS, such as LSTM-W-GloVe-2, and with a
head behind that where it is not the encoder's own: BiLSTM-C-Random-1-mean."""


def everything() -> dict[str, Any]:
    """Tell all there is to tell, for programs."""
    there = trained_models()
    return {
        "parts": {
            "encoders": {name: _encoder(name) for name in grid.ENCODER_NAMES},
            "inputs": dict(grid.INPUTS),
            "embeddings": dict(grid.EMBEDDINGS),
            "heads": dict(grid.HEAD_NAMES),
            "sizes": list(grid.SIZES),
        },
        "models": [
            {
                "model": design.name,
                "what it is": design.about,
                "kind": design.kind,
                "parts": dict(design.parts),
                "settings": grid.as_json(grid.settings(design)),
                "trained": [model.spec for model in there if model.name == design.name],
            }
            for design in grid.designs()
        ],
        "trained": [_told(model) for model in there],
    }


def shown() -> Any:
    """Show the parts as tables, the models with names of their own, and what is trained."""
    from rich.console import Group
    from rich.padding import Padding

    def indented(rows: Rows) -> list[Any]:
        return ["", Padding(table(rows, ""), (0, 0, 0, 2), expand=False)]

    there = trained_models()
    parts = [NAMES]
    for rows in (
        _encoders(),
        _rows("input", grid.INPUTS),
        _embeddings(),
        _rows("head", grid.HEAD_NAMES),
    ):
        parts += indented(rows)
    parts += ["", "Models with names of their own:", *indented(_named())]
    if there:
        parts += ["", "Trained:", *indented(_trained(there))]
    else:
        parts += ["", "Nothing is trained yet: brittle train NAME --data DATA."]
    return Group(*parts)


def _encoders() -> Rows:
    return [
        {
            "encoder": name,
            "what it is": told["what it is"],
            "layers": ", ".join(map(str, told["layers"])),
            "own head": told["own head"],
        }
        for name, told in ((name, _encoder(name)) for name in grid.ENCODER_NAMES)
    ]


def _encoder(name: str) -> dict[str, Any]:
    return {
        "what it is": grid.ENCODER_NAMES[name],
        "layers": list(grid.LAYERS[name]),
        "own head": grid.DEFAULT_HEAD[name],
    }


def _embeddings() -> Rows:
    rows = _rows("embedding", grid.EMBEDDINGS)
    rows[0]["what it is"] += " (the only one for the input C)"
    return rows


def _rows(what: str, told: Any) -> Rows:
    return [{what: name, "what it is": about} for name, about in told.items()]


def _named() -> Rows:
    made = {design.name for design in grid.designs() if design.kind == "network"} - set(grid.NAMED)
    rows = [
        {"model": design.name, "what it is": design.about}
        for design in grid.designs()
        if design.name not in made
    ]
    return [*rows, {"model": OTHERS, "what it is": "any encoder of transformers, tuned"}]


def _trained(there: Sequence[TrainedModel]) -> Rows:
    return [
        {
            "name": model.spec,
            "dev accuracy": f"{model.dev_accuracy:.3f}",
            "parameters": f"{model.parameters:,}",
            "on disk": f"{model.size / 1e6:.1f} MB",
        }
        for model in there
    ]


def _told(model: TrainedModel) -> dict[str, Any]:
    card = model.card
    return {
        "spec": model.spec,
        "model": card.name,
        "data": card.data,
        "seed": card.seed,
        "size": card.size,
        "changed": dict(card.changed),
        "settings": dict(card.settings),
        "hardening": dict(card.hardening),
        "labels": list(card.labels),
        "dev accuracy": card.dev_accuracy,
        "epochs": card.epochs,
        "examples": card.examples,
        "seconds": card.seconds,
        "parameters": model.parameters,
        "bytes": model.size,
        "folder": str(model.path),
    }
