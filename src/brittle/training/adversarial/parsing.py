"""Parse methods of adversarial training, such as `hotflip,share=0.1`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from brittle import attacks
from brittle.attacks import ATTACKS
from brittle.errors import unknown
from brittle.training.adversarial.by_attack import by_attack
from brittle.training.adversarial.methods import COUNT_SETTINGS, METHODS, AdversarialTraining
from brittle.values import parse_values
from brittle.zoo.names.parsing import split_method, split_name


def parse_method(text: str, *, device: str = "auto", **settings: Any) -> AdversarialTraining:
    """Build the method that a text names; `settings` take precedence over those in the text.

    A name that is both a method and an attack, such as key, is the method.

    >>> parse_method("hotflip,share=0.1"), parse_method("miyato", noise=0.3)
    (HotFlipTraining(share=0.1), NoiseTraining(noise=0.3))
    """
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
        raise unknown("kind of adversarial training", name, [*METHODS, *ATTACKS], remedy)
    kinds = {setting.name: setting.kind for setting in attacks.settings(attacks.recipe(name))}
    kinds |= dict.fromkeys(COUNT_SETTINGS, int)
    return by_attack(name, device=device, **(parse_values(name, kinds, texts) | settings))


def is_by_attack(model: str) -> bool:
    """Tell whether a model's name says that the model was hardened by an attack.

    >>> is_by_attack("LSTM-W-Random-1+pwws,copies=50"), is_by_attack("LSTM-W-Random-1+key")
    (True, False)
    """
    method = split_name(model).method
    return bool(method) and split_method(method)[0] not in METHODS
