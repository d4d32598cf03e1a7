"""The methods of adversarial training: their settings, their names, and how these are parsed.

The methods of adversarial training, their settings, and their names.

A hardened model is named MODEL+METHOD, such as `CharCNN-LSTM+hotflip`. Settings that differ from
the method's defaults follow: `CharCNN-LSTM+hotflip,share=0.1`. METHOD is one of `METHODS` or the
name of an attack, or one or more levels of the ladder: `LSTM-W-Random-1+rewrite,careful,copies=2`.
The files beside this one implement the methods.

Adversarial training by an attack: the engine attacks the model while it is trained. Parse methods
of adversarial training, such as `hotflip,share=0.1`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from brittle import attacks
from brittle.asks import Case
from brittle.attacks import ATTACKS, RunContext, resolve_attack
from brittle.candidates.rewrite_rules import SHIPPED
from brittle.data.columns import Columns
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.errors import UsageError, unknown
from brittle.goals import Untargeted
from brittle.levels import LEVELS, REWRITE, parse_levels
from brittle.safety import files
from brittle.safety.files import named_files
from brittle.targets.capabilities import check_asks, make_desks
from brittle.targets.protocols import positions_read
from brittle.targets.zoo.target import load_folder
from brittle.text import Text
from brittle.training.augmenting import DEFAULT_EDITS, DEFAULT_SHARE, AugmentSettings
from brittle.training.splits import LabelledTexts
from brittle.values import parse_values, split_settings
from brittle.zoo.families import ANY_METHOD
from brittle.zoo.names.grid import Design
from brittle.zoo.names.parsing import split_method, split_name
from brittle.zoo.names.settings import ModelSettings

DEFAULT_COPIES = 4
"""The number of variants of each text and level to train on."""
RunAttack = Callable[[Path, LabelledTexts, int], LabelledTexts]
"""Attack the model in a folder on texts, with a seed; return the texts that fooled the model."""


@dataclass(frozen=True)
class HotFlipTraining:
    """Training on the best flips by gradient (Ebrahimi et al., 2018).

    `share` is the share of a text's characters that are flipped.
    """

    share: float = 0.2

    def __post_init__(self) -> None:
        _check_share(self.share)


@dataclass(frozen=True)
class NoiseTraining:
    """Training on embeddings with noise along the gradient (Miyato et al., 2017).

    The noise is `noise` times as long as the vectors that it is added to. On characters it is
    applied as in Ebrahimi et al. (2018). With 0.1, CharCNN-LSTM made 18.9 % errors on clean
    texts of AG's news, without noise 12.9 %; benchmarks/initialisation.py compares values.
    """

    noise: float = 0.03

    def __post_init__(self) -> None:
        if not self.noise > 0:
            raise UsageError(f"Got a noise of {self.noise}; expected a number above 0.")


@dataclass(frozen=True)
class TypoTraining:
    """Training on random typing errors, after Key* of Ebrahimi et al. (2018).

    `share` is the share of a text's characters that are changed. All changes are random: none is
    chosen by what it does to the model, whereas Key* as an attack keeps the best of its draws.
    """

    share: float = 0.2

    def __post_init__(self) -> None:
        _check_share(self.share)


@dataclass(frozen=True)
class AttackTraining:
    """Training on texts with which an attack fools the current model.

    After `every` epochs `run` attacks `copies` texts of the train split. `settings` holds all
    settings of the attack, `changed` those that differ from its defaults.
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


@dataclass(frozen=True)
class LevelTraining:
    """Training on random variants of the texts, by edits of one or more levels of the ladder.

    `levels` are their names, separated by commas, the gentlest first. Every text has at most
    `copies` variants of each level, one of which is learnt with it in every epoch; a linear model
    learns all of them. `share` and `edits` are those of `brittle.augment`.
    """

    levels: str
    copies: int = DEFAULT_COPIES
    share: float = DEFAULT_SHARE
    edits: int = DEFAULT_EDITS

    def __post_init__(self) -> None:
        if self.levels != ",".join(level.name for level in parse_levels(self.levels)):
            raise UsageError(
                f"Got the levels {self.levels!r}; expected each once, the gentlest first: "
                f"{', '.join(LEVELS)}."
            )
        self.augmenting(seed=0)

    def augmenting(self, seed: int) -> AugmentSettings:
        """Return the settings with which the variants are made."""
        return AugmentSettings(self.levels, self.copies, seed, self.share, self.edits)


NAME_SEPARATORS = "+,@#?"  # between the parts of a model's name
COUNT_SETTINGS = ("copies", "every")
LEVEL_SETTINGS: Mapping[str, type] = {"copies": int, "share": float, "edits": int}
MAX_VALUE_CHARACTERS = 40

AdversarialTraining = (
    HotFlipTraining | NoiseTraining | TypoTraining | AttackTraining | LevelTraining
)
METHODS: Mapping[str, type[HotFlipTraining] | type[NoiseTraining] | type[TypoTraining]] = {
    "hotflip": HotFlipTraining,
    "miyato": NoiseTraining,
    "key": TypoTraining,
}


def format_method(method: AdversarialTraining) -> str:
    """Format a method's name and its changed settings, as `parse_method` parses them."""
    names = COUNT_SETTINGS if isinstance(method, AttackTraining) else tuple(asdict(method))
    if isinstance(method, LevelTraining):
        names = tuple(LEVEL_SETTINGS)
    values = {name: getattr(method, name) for name in names}
    changed = {name: v for name, v in values.items() if v != getattr(type(method), name)}
    if isinstance(method, AttackTraining):
        changed |= method.changed
    settings = (f"{name}={_format_value(value)}" for name, value in changed.items())
    return ",".join([method_name(method), *settings])


def method_name(method: AdversarialTraining) -> str:
    """Return the name of a method, or that of its attack."""
    if isinstance(method, AttackTraining):
        return method.attack
    if isinstance(method, LevelTraining):
        return method.levels
    return next(name for name, kind in METHODS.items() if isinstance(method, kind))


def as_json(method: AdversarialTraining) -> dict[str, Any]:
    """Return everything about a method that decides the weights, as plain values."""
    if isinstance(method, LevelTraining):
        settings = {name: getattr(method, name) for name in LEVEL_SETTINGS}
        # Other rules make other variants, and so other weights.
        rules = {"rules": files.digest(SHIPPED)} if REWRITE in method.levels else {}
        return {"method": method.levels, **settings, **rules}
    if not isinstance(method, AttackTraining):
        return {"method": method_name(method), **asdict(method)}
    counts = {name: getattr(method, name) for name in COUNT_SETTINGS}
    return {"method": method.attack, **counts, "settings": dict(method.settings)}


def check_method(design: Design, settings: ModelSettings, method: AdversarialTraining) -> None:
    """Refuse, before anything is trained, a method that does not fit this family of models."""
    name, family = method_name(method), design.family
    refused = family.refuses.get(ANY_METHOD) or family.refuses.get(name)
    if refused:
        reason = refused.format(model=design.name, kind=family.kind)
        raise UsageError(f"{name!r} {reason}")
    epochs = getattr(settings, "epochs", 1)
    if isinstance(method, AttackTraining) and not family.is_refitted and epochs <= method.every:
        raise UsageError(
            f"{name!r} would never attack: it attacks after every {method.every} epochs "
            f"except the last, but there are only {epochs}. Train for more epochs, or set "
            "a smaller every."
        )


def _format_value(value: Any) -> str:
    """Format a value for a model's name; a value that does not fit becomes its digest."""
    text = str(value)
    if len(text) <= MAX_VALUE_CHARACTERS and not set(text) & set(NAME_SEPARATORS):
        return text
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        raise UsageError(f"Got a share of {share}; expected a number above 0, at most 1.")


def by_attack(
    name: str, *, copies: int = 200, every: int = 1, device: str = "auto", **settings: Any
) -> AttackTraining:
    """Build the method that hardens a model by an attack; `settings` are those of the attack.

    After `every` epochs the model is attacked on `copies` texts of the train split. It learns from
    the texts that fool it, with their true labels, until it is attacked again.
    """
    if attacks.item_kind(attacks.recipe(name)) != "text":
        raise UsageError(
            f"The attack {name!r} edits pictures, but adversarial training needs an "
            "attack on texts. Use one of those (brittle list attacks), or train without "
            "--adversarial."
        )
    defaults = attacks.default_settings(name)
    for setting in settings:
        if setting not in defaults:
            raise unknown(f"setting of {name}", setting, [*COUNT_SETTINGS, *defaults])
    changed = {key: value for key, value in settings.items() if value != defaults[key]}
    run = partial(broken_texts, name=name, settings=settings, device=device)
    all_settings = defaults | settings
    digests = named_files(all_settings)  # other contents of these files are another training
    if digests:
        all_settings["files"] = digests
    return AttackTraining(name, run, copies, every, all_settings, changed)


def broken_texts(
    folder: Path,
    originals: LabelledTexts,
    seed: int,
    name: str,
    settings: Mapping[str, Any],
    device: str,
) -> LabelledTexts:
    """Attack the model in a folder on texts; return the adversarial texts, in order."""
    target = load_folder(folder, device=device)
    desks = make_desks(target)
    broker = Broker(desks)
    try:
        card = target.card
        columns = Columns(card.fields) if len(card.fields) > 1 else None
        context = RunContext(card.labels, data_columns=columns)
        attack, _, _ = resolve_attack(name, settings, card.data, context)
        check_asks(attack, name, target, desks)
        engine = Engine(attack, Untargeted(), broker, name=name, seed=seed)
        cases = (
            Case(str(n), text, label, read_positions=positions_read(target, text))
            for n, (text, label) in enumerate(zip(originals.texts, originals.label))
        )
        broken: dict[int, Text] = {
            int(outcome.case.id): outcome.best.item
            for outcomes in engine.run(cases)
            for outcome in outcomes
            if outcome.status == "broken" and outcome.best is not None
        }
    finally:
        broker.close()
        target.close()
    rows = sorted(broken)
    return LabelledTexts(tuple(broken[n] for n in rows), tuple(originals.label[n] for n in rows))


def parse_method(text: str, *, device: str = "auto", **settings: Any) -> AdversarialTraining:
    """Build the method that a text names; `settings` take precedence over those in the text.

    A name that is both a method and an attack, such as key, is the method; one that is both a level
    and an attack, such as rewrite or typo, is the level. Several levels have commas between them.

    >>> parse_method("hotflip,share=0.1"), parse_method("miyato", noise=0.3)
    (HotFlipTraining(share=0.1), NoiseTraining(noise=0.3))
    >>> parse_method("rewrite,careful,copies=2")
    LevelTraining(levels='rewrite,careful', copies=2, share=0.5, edits=2)
    """
    if levels := leading_levels(text):
        return _by_levels(levels, text, settings)
    name, texts = split_method(text)
    kinds: dict[str, type]
    if name in METHODS:
        kinds = {field.name: float for field in fields(METHODS[name])}
        values = parse_values(name, kinds, texts) | settings
        for setting in values:
            if setting not in kinds:
                raise unknown(f"setting of {name}", setting, kinds)
        return METHODS[name](**values)
    if name not in ATTACKS and not name.startswith("python:"):
        remedy = "For your own attack, write python:module:name."
        known = dict.fromkeys((*METHODS, *LEVELS, *ATTACKS))
        raise unknown("kind of adversarial training", name, known, remedy)
    kinds = {setting.name: setting.kind for setting in attacks.settings(attacks.recipe(name))}
    kinds |= dict.fromkeys(COUNT_SETTINGS, int)
    return by_attack(name, device=device, **(parse_values(name, kinds, texts) | settings))


def leading_levels(text: str) -> list[str]:
    """List the levels with which a method begins; none if it is no method of levels.

    >>> leading_levels("typo,rewrite,copies=2"), leading_levels("pwws")
    (['typo', 'rewrite'], [])
    """
    names = (part.strip().lower() for part in text.split(","))
    return list(takewhile(lambda name: name in LEVELS, names))


def _by_levels(levels: Sequence[str], text: str, settings: Mapping[str, Any]) -> LevelTraining:
    name = ",".join(level.name for level in parse_levels(",".join(levels)))
    rest = [part.strip() for part in text.split(",")[len(levels) :]]
    values = parse_values(name, LEVEL_SETTINGS, split_settings(name, rest, "copies=2"))
    for setting in (values := values | dict(settings)):
        if setting not in LEVEL_SETTINGS:
            raise unknown(f"setting of {name}", setting, LEVEL_SETTINGS)
    return LevelTraining(name, **values)


def is_by_attack(model: str) -> bool:
    """Tell whether a model's name says that the model was hardened by an attack.

    >>> is_by_attack("LSTM-W-Random-1+pwws,copies=50"), is_by_attack("LSTM-W-Random-1+key")
    (True, False)
    """
    method = split_name(model).method
    if not method or leading_levels(method):
        return False
    return split_method(method)[0] not in METHODS
