"""The names of zoo targets: `zoo:NAME@DATA#SEED`, and `?` with settings where some are changed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brittle.data.catalogue import CATALOGUE
from brittle.errors import UsageError
from brittle.training import trained_models
from brittle.zoo.folder import full_name
from brittle.zoo.names import changes, grid
from brittle.zoo.names.grid import Design

ZOO_PREFIX = "zoo:"
SIZE_SETTING = "size"
DATA_PART = re.compile(r"(?P<data>.+?)(?:#(?P<seed>\d+))?(?:\?(?P<settings>\w+=[^?]*))?")


@dataclass(frozen=True)
class ModelName:
    """A model that is asked for; `changed` are settings that are not its own at this size.

    `source` is the name as it was given, a folder for one.
    """

    name: str
    data: str
    seed: int = 0
    size: str = "default"
    changed: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    @property
    def full_name(self) -> str:
        return full_name(self.name, self.data, self.seed, self.size, self.changed)

    @property
    def command(self) -> str:
        """The command that trains it."""
        size = [] if self.size == "default" else ["--size", self.size]
        told = [changes.format_settings({name: value}) for name, value in self.changed.items()]
        flags = [word for setting in told for word in ("--set", setting)]
        words = ["brittle", "train", self.source, "--data", self.data, "--seed", str(self.seed)]
        return shlex.join([*words, *size, *flags])


def parse(spec: str, size: str = "default") -> ModelName:
    """Part a name such as `zoo:LSTM-W-GloVe-1@imdb#0?hidden=32,size=paper`.

    The seed is 0 unless given, and the size the one given here. The name of a hardened model says
    by what: `CharCNN-LSTM+hotflip`.

    >>> parse("zoo:lstm-w-random-1@mr?hidden=32").full_name
    'LSTM-W-Random-1@mr#0?hidden=32'
    """
    name, at, rest = spec.removeprefix(ZOO_PREFIX).partition("@")
    match = DATA_PART.fullmatch(rest)
    if not at or not match:
        raise UsageError(
            f"Got the model {spec!r}. Expected zoo:NAME@DATA or zoo:NAME@DATA#SEED, such as "
            "zoo:LSTM-W-Random-1@mr#0, and settings behind a question mark: ?hidden=32,size=paper. "
            "brittle list models shows the names."
        )
    model, plus, tag = name.partition("+")
    design = _design(model)
    given = [part for part in (match["settings"] or "").split(",") if part]
    sizes = [part.partition("=")[2] for part in given if part.partition("=")[0] == SIZE_SETTING]
    size = sizes[-1] if sizes else size
    others = [part for part in given if part.partition("=")[0] != SIZE_SETTING]
    changed = grid.changed_settings(design, size, grid.parse_settings(design, size, others))
    seed = int(match["seed"] or 0)
    return ModelName(f"{design.name}{plus}{tag}", match["data"], seed, size, changed, name)


def find_listed(wanted: ModelName) -> Path | None:
    """Find a model by the name it is listed under, where that does not say all.

    A model of a file is listed under the file's stem, a tuned encoder from a folder under the name
    of that folder.
    """
    data = wanted.data
    full = data in CATALOGUE or data.startswith(grid.HUB_PREFIX) or Path(data).exists()
    if full and _is_of_the_grid(wanted.name.partition("+")[0]):
        return None
    found = [t.path for t in trained_models() if t.card.full_name == wanted.full_name]
    if len(found) > 1:
        raise UsageError(
            f"Several models are named {wanted.full_name}: they were trained on different data. "
            f"Name the folder of one: {', '.join(map(str, found))}."
        )
    return found[0] if found else None


def _design(name: str) -> Design:
    """Find a model of the grid, or an encoder that was tuned and is listed by its folder's name."""
    if not _is_of_the_grid(name):
        for model in trained_models():
            if model.card.kind == "transformer" and model.name.partition("+")[0] == name:
                return Design(name, "transformer", "", encoder=str(model.card.settings["encoder"]))
    return grid.design(name)


def _is_of_the_grid(name: str) -> bool:
    try:
        grid.design(name)
    except UsageError:
        return False
    return True
