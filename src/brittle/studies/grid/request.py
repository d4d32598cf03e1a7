"""What a grid is about, and the name that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brittle.data import Dataset
from brittle.studies.carry_out import default_name
from brittle.studies.grid.chosen_attacks import ChosenAttack
from brittle.studies.pools import Member


@dataclass(frozen=True)
class GridRequest:
    """What a grid is about; `dataset` holds the texts that cases are chosen from."""

    name: str
    pool: str
    attacks: tuple[ChosenAttack, ...]
    targets: tuple[Member, ...]
    dataset: Dataset
    seed: int
    limit: int
    all_right: bool
    budget: int | None = None
    live: Mapping[str, Any] = field(default_factory=dict)


def name_of(request: GridRequest) -> str:
    """Build the study's name from what it is about; the targets are no part of it."""
    rows = [[attack.row, dict(attack.settings)] for attack in request.attacks]
    settings = [request.seed, request.limit, request.all_right, request.budget]
    words = ("grid", request.pool, Path(request.dataset.name).name)
    return default_name(words, [rows, settings, request.dataset.fingerprint])
