"""Adversarial training: what a model is hardened by, its settings, and how that is told.

A hardened model is named MODEL+METHOD, such as `CharCNN-LSTM+hotflip`, with the settings that are
not the method's own behind it: `CharCNN-LSTM+hotflip,share=0.1`. A method is one of those here or
the name of an attack. How each is done stands in the files beside this one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, unknown
from brittle.training.splits import Side
from brittle.zoo.names.grid import Design
from brittle.zoo.names.settings import FineTuning, Network, Settings

Run = Callable[[Path, Side, int], Side]
"""Attack the model in a folder on some texts, with a seed; gives the texts that fooled it."""


@dataclass(frozen=True)
class HotFlip:
    """Flips along the gradient, `share` of a text's characters (Ebrahimi et al., 2018)."""

    share: float = 0.2

    def __post_init__(self) -> None:
        _part(share=self.share)


@dataclass(frozen=True)
class Miyato:
    """Noise along the gradient, `noise` times as long as the vectors it is added to.

    After Miyato et al. (2017), on characters as in Ebrahimi et al. (2018).
    """

    noise: float = 0.1

    def __post_init__(self) -> None:
        if not self.noise > 0:
            raise UsageError(f"Got a noise of {self.noise}; expected a number above 0.")


@dataclass(frozen=True)
class Key:
    """Random typing errors, `share` of a text's characters (Key* of Ebrahimi et al., 2018)."""

    share: float = 0.2

    def __post_init__(self) -> None:
        _part(share=self.share)


@dataclass(frozen=True)
class Attacked:
    """Texts on which an attack fools the model as it is, found anew every few epochs.

    After `every` epochs `run` attacks `copies` texts of the train side. `settings` are all that the
    attack has, `changed` those of them that are not its own.
    """

    attack: str
    run: Run = field(compare=False, repr=False)
    copies: int = 200
    every: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    changed: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name in ("copies", "every"):
            if getattr(self, name) < 1:
                raise UsageError(f"Got {name} {getattr(self, name)}; expected at least 1.")


SPECIAL = "+,@#?"  # what parts the name of a model
LONGEST = 40

Hardening = HotFlip | Miyato | Key | Attacked
METHODS: Mapping[str, type[HotFlip] | type[Miyato] | type[Key]] = {
    "hotflip": HotFlip,
    "miyato": Miyato,
    "key": Key,
}


def named(told: str, **settings: Any) -> HotFlip | Miyato | Key:
    """Find a method by its name, with or without settings behind it.

    >>> named("hotflip"), named("hotflip,share=0.1"), named("miyato", noise=0.3)
    (HotFlip(share=0.2), HotFlip(share=0.1), Miyato(noise=0.3))
    """
    name, given = parted(told)
    if name not in METHODS:
        remedy = "An attack is passed as brittle.training.adversarial.by_attack.by_attack(NAME)."
        raise unknown("kind of adversarial training", name, METHODS, remedy)
    known = {f.name for f in fields(METHODS[name])}
    chosen = {key: _number(key, value) for key, value in given.items()} | settings
    for setting in chosen:
        if setting not in known:
            raise unknown(f"setting of {name}", setting, known)
    return METHODS[name](**chosen)


def parted(told: str) -> tuple[str, dict[str, str]]:
    """Part a method's name from the settings behind it.

    >>> parted("pwws,copies=50")
    ('pwws', {'copies': '50'})
    """
    name, *rest = told.split(",")
    given = {}
    for part in rest:
        key, equals, value = part.partition("=")
        if not equals or not key or not value:
            raise UsageError(f"Got {told!r}; expected METHOD,SETTING=VALUE, as in key,share=0.1.")
        given[key.strip()] = value.strip()
    name = name.strip()
    return name if name.startswith("python:") else name.lower(), given


def by_attack(model: str) -> bool:
    """Say whether the name of a model tells that it was hardened by an attack.

    >>> by_attack("LSTM-W-Random-1+pwws,copies=50"), by_attack("LSTM-W-Random-1+key")
    (True, False)
    """
    _, plus, told = model.partition("+")
    return bool(plus) and parted(told)[0] not in METHODS


def tag(hardening: Hardening) -> str:
    """Name a method with what of its settings is not its own; `named` and the zoo read it."""
    if isinstance(hardening, Attacked):
        name = hardening.attack
        own = {"copies": Attacked.copies, "every": Attacked.every}
        changed = {key: value for key in own if (value := getattr(hardening, key)) != own[key]}
        changed |= hardening.changed
    else:
        name = method(hardening)
        own = asdict(METHODS[name]())
        changed = {key: value for key, value in asdict(hardening).items() if value != own[key]}
    return ",".join([name, *(f"{key}={_short(value)}" for key, value in changed.items())])


def method(hardening: Hardening) -> str:
    """Give the name of a method, or that of the attack."""
    if isinstance(hardening, Attacked):
        return hardening.attack
    return next(name for name, kind in METHODS.items() if isinstance(hardening, kind))


def plain(hardening: Hardening) -> dict[str, Any]:
    """Give all that decides the weights, as it stands in JSON."""
    if not isinstance(hardening, Attacked):
        return {"method": method(hardening), **asdict(hardening)}
    told = {"method": hardening.attack, "copies": hardening.copies, "every": hardening.every}
    return told | {"settings": dict(hardening.settings)}


def check(design: Design, settings: Settings, hardening: Hardening) -> None:
    """Refuse, before anything is trained, what a model of this kind cannot be hardened by."""
    name = method(hardening)
    if design.kind == "linear" and isinstance(hardening, HotFlip | Miyato):
        raise UsageError(
            f"{name!r} follows the gradients of a network, but {design.name} is a linear model. "
            "Use key, or an attack such as pwws."
        )
    if design.kind == "transformer" and isinstance(hardening, HotFlip):
        raise UsageError(
            f"'hotflip' flips the characters or the words that a network reads, but {design.name} "
            "reads pieces of words. Use miyato, key, or an attack such as hotflip-words."
        )
    if not isinstance(settings, Network | FineTuning):
        return  # fitted, attacked once, and fitted again
    if isinstance(hardening, Attacked) and settings.epochs <= hardening.every:
        raise UsageError(
            f"{name!r} would never attack: it does so after every {hardening.every} epochs but the "
            f"last, and there are {settings.epochs}. Train for more epochs, or set every to less."
        )


def _short(value: Any) -> str:
    """Tell a value, or, where it would not do in a name, a digest of it."""
    told = str(value)
    if len(told) <= LONGEST and not set(told) & set(SPECIAL):
        return told
    return hashlib.sha256(told.encode()).hexdigest()[:8]


def _part(**given: float) -> None:
    for name, value in given.items():
        if not 0 < value <= 1:
            raise UsageError(f"Got a {name} of {value}; expected a number above 0, at most 1.")


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise UsageError(f"Got {value!r} for {name}; expected a number.") from error
