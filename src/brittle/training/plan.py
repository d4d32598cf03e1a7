"""What is to be trained, the name of the result, and its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from brittle.errors import UsageError
from brittle.training.adversarial.methods import AdversarialTraining
from brittle.training.cache_key import model_key, model_name, unused_settings
from brittle.training.splits import TrainingSplits
from brittle.zoo import folder as folders
from brittle.zoo.folder import full_name
from brittle.zoo.names import changes, grid
from brittle.zoo.names.grid import Design
from brittle.zoo.names.settings import ModelSettings

Changed = Sequence[str] | Mapping[str, Any]
"""Changed settings: texts such as `hidden=64`, or values by name."""


@dataclass(frozen=True)
class TrainingPlan:
    """Everything that decides the weights of a model; its name and its folder follow from it.

    `bilm` is the key of the biLM that a network with ELMo reads.
    """

    design: Design
    settings: ModelSettings
    size: str
    seed: int
    splits: TrainingSplits
    method: AdversarialTraining | None = None
    bilm: str = ""

    @cached_property
    def key(self) -> str:
        return model_key(
            self.design,
            self.settings,
            self.size,
            self.seed,
            self.splits.fingerprint,
            self.method,
            self.bilm,
        )

    @property
    def changed(self) -> dict[str, Any]:
        return grid.changed_settings(self.design, self.size, self.settings)

    @property
    def model(self) -> str:
        return model_name(self.design, self.method)

    @property
    def name(self) -> str:
        return full_name(self.model, self.splits.name, self.seed, self.size, self.changed)

    @property
    def folder(self) -> Path:
        return folders.model_folder(self.model, self.splits.name, self.seed, self.key)


def check_kinds(design: Design, splits: TrainingSplits) -> None:
    """Refuse a model of texts on data of pictures, and the other way round."""
    reads = design.family.item_kind
    if splits.train.kind != reads:
        raise UsageError(
            f"The data set {splits.name!r} contains {splits.train.kind}s, but "
            f"{design.name} reads {reads}s. Choose another model (brittle list models) or "
            "other data."
        )


def choose_settings(design: Design, size: str, changed: Changed) -> ModelSettings:
    """Return the settings of a model at this size, with some of them changed.

    One that the design does not use is an error: it would change the name and nothing else.
    """
    if isinstance(changed, Mapping):
        settings, names = grid.settings(design, size, **changed), list(changed)
    else:
        settings = grid.parse_settings(design, size, changed)
        names = [text.partition("=")[0].strip() for text in changed]
    names = list(changes.with_present_names(dict.fromkeys(names)))
    for name, used_by in unused_settings(design).items():
        if name in names:
            raise UsageError(
                f"Got the setting {name} for {design.name}, which does not use it. It "
                f"belongs to {used_by}. Leave it out, or choose one of these."
            )
    return settings
