"""The ladders of known models, to compare a run with; shipped as yardstick.json.

`benchmarks/ladder.py run` measures them and writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from brittle.formatting import percent
from brittle.levels import LEVELS


@dataclass(frozen=True)
class KnownModel:
    """The accuracy of a model on `of` texts, and what is left of it after each level."""

    name: str
    accuracy: float
    of: int
    after: Mapping[str, float]


@cache
def known_models() -> tuple[KnownModel, ...]:
    """Load the ladders of known models."""
    path = files("brittle.reports").joinpath("yardstick.json")
    content = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return tuple(KnownModel(name, **one) for name, one in content.items())


def yardstick_lines() -> list[str]:
    """Write one line a model: its accuracy, and what is left after each level."""
    lines = []
    for model in known_models():
        left = " · ".join(f"{level} {percent(share, 0)}" for level, share in model.after.items())
        lines.append(f"for comparison, {model.name}: {percent(model.accuracy, 0)} → {left}")
    return lines


def yardstick_table() -> dict[str, list[Any]]:
    """Return the known models as a table: its `head`, and `rows`; none if there are none."""
    head = ["model", "accuracy", *(f"after {level.title}" for level in LEVELS.values())]
    rows = [
        [model.name, percent(model.accuracy), *(percent(model.after.get(name)) for name in LEVELS)]
        for model in known_models()
    ]
    return {"head": head, "rows": rows}
