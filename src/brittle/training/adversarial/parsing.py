"""Parse methods of adversarial training, such as `hotflip,share=0.1`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import takewhile
from typing import Any

from brittle import attacks
from brittle.attacks import ATTACKS
from brittle.errors import unknown
from brittle.levels import LEVELS, parse_levels
from brittle.training.adversarial.by_attack import by_attack
from brittle.training.adversarial.methods import (
    COUNT_SETTINGS,
    LEVEL_SETTINGS,
    METHODS,
    AdversarialTraining,
    LevelTraining,
)
from brittle.values import parse_values, split_settings
from brittle.zoo.names.parsing import split_method, split_name


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
        remedy = "An attack of your own stands here as python:module:name."
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
