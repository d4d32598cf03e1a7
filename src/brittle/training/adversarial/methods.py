"""Adversarial training: what a model is hardened by, its settings, and how that is told.

A hardened model is named MODEL+METHOD, such as `CharCNN-LSTM+hotflip`, with the settings that are
not the method's own behind it: `CharCNN-LSTM+hotflip,share=0.1`. A method is one of those here or
the name of an attack. How each is done stands in the files beside this one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from brittle.errors import UsageError
from brittle.training.splits import LabelledTexts
from brittle.zoo.names.grid import Design
from brittle.zoo.names.settings import FineTuningSettings, ModelSettings, NetworkSettings

RunAttack = Callable[[Path, LabelledTexts, int], LabelledTexts]
"""Attack the model in a folder on some texts, with a seed; gives the texts that fooled it."""


@dataclass(frozen=True)
class HotFlipTraining:
    """Flips along the gradient, `share` of a text's characters (Ebrahimi et al., 2018)."""

    share: float = 0.2

    def __post_init__(self) -> None:
        _check_share(share=self.share)


@dataclass(frozen=True)
class NoiseTraining:
    """Noise along the gradient, `noise` times as long as the vectors it is added to.

    After Miyato et al. (2017), on characters as in Ebrahimi et al. (2018).
    """

    noise: float = 0.1

    def __post_init__(self) -> None:
        if not self.noise > 0:
            raise UsageError(f"Got a noise of {self.noise}; expected a number above 0.")


@dataclass(frozen=True)
class TypoTraining:
    """Random typing errors, `share` of a text's characters (Key* of Ebrahimi et al., 2018)."""

    share: float = 0.2

    def __post_init__(self) -> None:
        _check_share(share=self.share)


@dataclass(frozen=True)
class AttackTraining:
    """Texts on which an attack fools the model as it is, found anew every few epochs.

    After `every` epochs `run` attacks `copies` texts of the train side. `settings` are all that the
    attack has, `changed` those of them that are not its own.
    """

    attack: str
    run: RunAttack = field(compare=False, repr=False)
    copies: int = 200
    every: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    changed: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name in COUNT_SETTINGS:
            if getattr(self, name) < 1:
                raise UsageError(f"Got {name} {getattr(self, name)}; expected at least 1.")


NAME_SEPARATORS = "+,@#?"  # they separate the parts of a model's name
COUNT_SETTINGS = ("copies", "every")
MAX_VALUE_CHARACTERS = 40

AdversarialTraining = HotFlipTraining | NoiseTraining | TypoTraining | AttackTraining
METHODS: Mapping[str, type[HotFlipTraining] | type[NoiseTraining] | type[TypoTraining]] = {
    "hotflip": HotFlipTraining,
    "miyato": NoiseTraining,
    "key": TypoTraining,
}


def format_method(hardening: AdversarialTraining) -> str:
    """Write a method's name, with the settings that are not its own, as `parse_method` reads it."""
    if isinstance(hardening, AttackTraining):
        name = hardening.attack
        own = {"copies": AttackTraining.copies, "every": AttackTraining.every}
        changed = {key: value for key in own if (value := getattr(hardening, key)) != own[key]}
        changed |= hardening.changed
    else:
        name = method_name(hardening)
        own = asdict(METHODS[name]())
        changed = {key: value for key, value in asdict(hardening).items() if value != own[key]}
    return ",".join([name, *(f"{key}={_short(value)}" for key, value in changed.items())])


def method_name(hardening: AdversarialTraining) -> str:
    """Give the name of a method, or that of the attack."""
    if isinstance(hardening, AttackTraining):
        return hardening.attack
    return next(name for name, kind in METHODS.items() if isinstance(hardening, kind))


def as_json(hardening: AdversarialTraining) -> dict[str, Any]:
    """Give all that decides the weights, as it stands in JSON."""
    if not isinstance(hardening, AttackTraining):
        return {"method": method_name(hardening), **asdict(hardening)}
    told = {"method": hardening.attack, "copies": hardening.copies, "every": hardening.every}
    return told | {"settings": dict(hardening.settings)}


def check_method(design: Design, settings: ModelSettings, hardening: AdversarialTraining) -> None:
    """Refuse, before anything is trained, what a model of this kind cannot be hardened by."""
    name = method_name(hardening)
    if design.kind == "linear" and isinstance(hardening, HotFlipTraining | NoiseTraining):
        raise UsageError(
            f"{name!r} follows the gradients of a network, but {design.name} is a linear model. "
            "Use key, or an attack such as pwws."
        )
    if design.kind == "transformer" and isinstance(hardening, HotFlipTraining):
        raise UsageError(
            f"'hotflip' flips the characters or the words that a network reads, but {design.name} "
            "reads pieces of words. Use miyato, key, or an attack such as hotflip-words."
        )
    if not isinstance(settings, NetworkSettings | FineTuningSettings):
        return  # fitted, attacked once, and fitted again
    if isinstance(hardening, AttackTraining) and settings.epochs <= hardening.every:
        raise UsageError(
            f"{name!r} would never attack: it does so after every {hardening.every} epochs but the "
            f"last, and there are {settings.epochs}. Train for more epochs, or set every to less."
        )


def _short(value: Any) -> str:
    """Tell a value, or, where it would not do in a name, a digest of it."""
    told = str(value)
    if len(told) <= MAX_VALUE_CHARACTERS and not set(told) & set(NAME_SEPARATORS):
        return told
    return hashlib.sha256(told.encode()).hexdigest()[:8]


def _check_share(**given: float) -> None:
    for name, value in given.items():
        if not 0 < value <= 1:
            raise UsageError(f"Got a {name} of {value}; expected a number above 0, at most 1.")
