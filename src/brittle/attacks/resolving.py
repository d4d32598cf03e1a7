"""From what a caller names, an attack and its settings, to the attack with all its settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from brittle import attacks
from brittle.asks import Attack
from brittle.data.catalogue import CATALOGUE
from brittle.errors import unknown


def resolve_attack(
    given: str | Attack,
    settings: Mapping[str, Any],
    labels: Sequence[str],
    dataset: str,
    label_map: Mapping[str, str] | None = None,
) -> tuple[Attack, str, dict[str, Any]]:
    """Make the attack, its name and all its settings, defaults included."""
    if not isinstance(given, str):
        if settings:
            raise unknown("argument", next(iter(settings)), [])
        name = type(given).__name__.lower()
        return given, name, describe_settings(given)
    given = given if given.startswith("python:") else given.lower()
    known = attacks.settings(attacks.recipe(given))
    resolved = {setting.name: setting.default for setting in known} | dict(settings)
    if resolved.get("learn_from", "") is None and dataset in CATALOGUE:
        resolved["learn_from"] = dataset
    return attacks.build(given, resolved, labels, label_map), given, resolved


def describe_settings(attack: Attack) -> dict[str, str]:
    """Write down the settings of a live attack, without addresses, which no two starts share."""
    if not is_dataclass(attack):
        return {}
    values = {field.name: repr(getattr(attack, field.name)) for field in fields(attack)}
    return {name: re.sub(r" at 0x[0-9a-fA-F]+", "", value) for name, value in values.items()}
