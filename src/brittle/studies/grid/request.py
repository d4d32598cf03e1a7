"""What a grid is about, the name that follows from it, and whose name is taken."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brittle.data import Dataset
from brittle.errors import UsageError
from brittle.studies.grid.chosen_attacks import ChosenAttack
from brittle.studies.grid.study import GridStudy
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


def default_name(request: GridRequest) -> str:
    """Build the study's name from what it is about; the targets are no part of it."""
    rows = [[attack.row, dict(attack.settings)] for attack in request.attacks]
    settings = [request.seed, request.limit, request.all_right, request.budget]
    content = json.dumps([rows, settings, request.dataset.fingerprint], sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()[:6]
    words = f"grid-{request.pool}-{Path(request.dataset.name).name}"
    return f"{re.sub(r'[^A-Za-z0-9.@]+', '-', words).strip('-.')[:80]}-{digest}"


def check_name(request: GridRequest, path: Path) -> None:
    """Refuse the name of a stored study that is about something else; it would be replaced.

    The same study may have more attacks, more targets and more cases.
    """
    if not path.exists():
        return
    stored = GridStudy.load(path)
    now: dict[str, Any] = {name: getattr(request, name) for name in ("seed", "all_right", "budget")}
    now |= {"data": request.dataset.name, "split": request.dataset.split}
    old: dict[str, Any] = {name: getattr(stored, name) for name in now}
    now |= {attack.row: dict(attack.settings) for attack in request.attacks}
    old |= {row: dict(stored.settings[row]) for row in stored.attacks}
    for name, value in old.items():
        if json.dumps(now.get(name)) != json.dumps(value):
            raise UsageError(
                f"The study {request.name!r} is there with other settings: {name} {value}, now "
                f"{now.get(name, 'left out')}. Choose another name (--name), or delete {path}."
            )
