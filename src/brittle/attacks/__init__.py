"""The attacks by name. A new one is one file, its name in `registry.MODULES`, and one row in the
contract test.

`registry` knows the names, `recipes` what a recipe is, and here an attack is built by both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from brittle.asks import Attack, declared
from brittle.attacks.recipes import (
    Recipe,
    RunContext,
    Setting,
    item_kind,
    run_arguments,
    settings,
    signature_of,
    summary,
)
from brittle.attacks.registry import ATTACKS, check_attack, is_own, recipe, registered
from brittle.errors import BrittleError, UsageError, unknown

__all__ = [
    "ATTACKS",
    "Recipe",
    "RunContext",
    "Setting",
    "build",
    "default_settings",
    "describe_settings",
    "is_own",
    "item_kind",
    "learns",
    "recipe",
    "registered",
    "resolve_attack",
    "settings",
    "summary",
    "unchosen_settings",
    "wanted_mask",
]

OPTIONAL_LEARNING = ("entities", "spare")
"""Settings that make an attack learn from data; without them it learns nothing."""


def default_settings(name: str) -> dict[str, Any]:
    """Return the settings of an attack by default; none for a live attack, which has no recipe."""
    is_named = name.startswith("python:") or name.lower() in ATTACKS
    return {item.name: item.default for item in settings(recipe(name))} if is_named else {}


def unchosen_settings(name: str, chosen: Collection[str]) -> dict[str, Any]:
    """Return the settings of an attack that are not `chosen`, at their defaults."""
    return {key: value for key, value in default_settings(name).items() if key not in chosen}


def build(
    name: str,
    values: Mapping[str, Any],
    context: RunContext = RunContext(),
) -> Attack:
    """Build an attack from its name, the values of its settings, and what the run hands to it."""
    build_attack = recipe(name)
    known = {setting.name: setting for setting in settings(build_attack)}
    for setting in values:
        if setting not in known:
            raise unknown(f"setting of {name}", setting, known)
    missing = [s for s in known.values() if s.required and values.get(s.name) is None]
    if missing:
        flags = ", ".join(
            f"--{s.name.replace('_', '-')} {s.kind.__name__.upper()}" for s in missing
        )
        raise UsageError(
            f"The attack {name!r} needs a value for "
            f"{', '.join(repr(s.name) for s in missing)}. Set it: {flags}."
        )
    arguments = dict(values) | run_arguments(name, build_attack, context)
    if is_own(name):
        return build_attack(**arguments)
    try:
        attack = build_attack(**arguments)
    except BrittleError:
        raise
    except Exception as error:
        raise UsageError(
            f"{name!r} raised {type(error).__name__}: {error} while it built the attack."
        ) from error
    return check_attack(name, attack)


def resolve_attack(
    attack: str | Attack,
    overrides: Mapping[str, Any],
    dataset: str,
    context: RunContext = RunContext(),
) -> tuple[Attack, str, dict[str, Any]]:
    """Return the attack, its name and all its settings, defaults included.

    `attack` is a name, or an attack that takes no overrides.
    """
    from brittle.data.catalogue import CATALOGUE

    if not isinstance(attack, str):
        if overrides:
            raise unknown("argument", next(iter(overrides)), [])
        return attack, type(attack).__name__.lower(), describe_settings(attack)
    name = attack if attack.startswith("python:") else attack.lower()
    recipe(name)  # an unknown name is refused
    values = {**default_settings(name), **overrides}
    if values.get("learn_from", "") is None and dataset in CATALOGUE and learns(values):
        values["learn_from"] = dataset
    return build(name, values, context), name, values


def learns(values: Mapping[str, Any]) -> bool:
    """Tell whether an attack that can learn from data does so with these settings."""
    switches = [values[name] for name in OPTIONAL_LEARNING if name in values]
    return (any(switches) or not switches) and values.get("entity_table") is None


def describe_settings(attack: Attack) -> dict[str, str]:
    """Format the settings of a live attack, without memory addresses: no two starts share them."""
    if not is_dataclass(attack):
        return {}
    values = {field.name: repr(getattr(attack, field.name)) for field in fields(attack)}
    return {name: re.sub(r" at 0x[0-9a-fA-F]+", "", value) for name, value in values.items()}


def wanted_mask(attack: str | Attack) -> str | None:
    """Return the mask with which the target of an attack is to be opened, if the attack says so."""
    made: Any = attack
    if isinstance(attack, str):
        made = recipe(attack)
        if not isinstance(made, type):
            made = signature_of(made).return_annotation
    mask: str | None = declared(made, "holes")
    return mask


def changed_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an attack that differ from its defaults.

    The user's own code is not imported to tell what its defaults are.

    >>> changed_settings("pwws", {"candidates": "paper", "share": 0.2})
    {'share': 0.2}
    """
    defaults = default_settings(name) if is_own(name) else {}
    return {key: v for key, v in settings.items() if (key, v) not in defaults.items()}


def with_present_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a stored run as they are called now.

    Before there were presets, no table of candidates meant the published ones.
    """
    if "candidates" not in settings or settings["candidates"] is not None:
        return dict(settings)
    from brittle.candidates.choice import PAPER

    return dict(settings) | {"candidates": PAPER}
