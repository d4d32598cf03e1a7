"""The attacks by name. A new one is one file, one line here, and one row in the contract test."""

from __future__ import annotations

import importlib
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.asks import Attack
from brittle.errors import UsageError, unknown

ATTACKS: Mapping[str, str] = {
    "pwws": "brittle.attacks.pwws:pwws",
    "genetic": "brittle.attacks.genetic:genetic",
    "random-swap": "brittle.attacks.random_swap:random_swap",
    "strongest-swap": "brittle.attacks.strongest_swap:strongest_swap",
    "tack-on": "brittle.attacks.tack_on:tack_on",
}

Recipe = Callable[..., Attack]


@dataclass(frozen=True)
class Setting:
    """One keyword argument of a recipe, as the command line offers it."""

    name: str
    kind: type
    default: Any
    help: str


def recipe(name: str) -> Recipe:
    """Find the recipe of a named attack, or the user's own as `python:module:name`."""
    if name.startswith("python:"):
        return _own(name)
    if name.lower() not in ATTACKS:
        raise unknown("attack", name, ATTACKS, "Your own stands here as python:module:name.")
    module, function = ATTACKS[name.lower()].split(":")
    return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]


def settings(recipe: Recipe) -> list[Setting]:
    """List what can be set on an attack; `labels` is filled in by the run."""
    hints = typing.get_type_hints(recipe, include_extras=True)
    found = []
    for name, parameter in inspect.signature(recipe).parameters.items():
        if name == "labels" or parameter.kind is not parameter.KEYWORD_ONLY:
            continue
        hint, told = hints.get(name, str), ""
        if typing.get_origin(hint) is typing.Annotated:
            hint, told = typing.get_args(hint)[:2]
        if isinstance(hint, types.UnionType):
            hint = next(part for part in typing.get_args(hint) if part is not types.NoneType)
        found.append(Setting(name, hint, parameter.default, told))
    return found


def build(name: str, given: Mapping[str, Any], labels: Sequence[str]) -> Attack:
    """Make an attack from its name and its settings."""
    made = recipe(name)
    known = {setting.name: setting for setting in settings(made)}
    for setting in given:
        if setting not in known:
            raise unknown(f"setting of {name}", setting, known)
    extra = {"labels": labels} if "labels" in inspect.signature(made).parameters else {}
    return made(**given, **extra)


def summary(recipe: Recipe) -> str:
    """Give the first line of what a recipe says of itself."""
    return (inspect.getdoc(recipe) or "").split("\n")[0]


def _own(name: str) -> Recipe:
    parts = name.split(":")
    if len(parts) != 3 or not all(parts):
        raise UsageError(f"Got attack {name!r}; expected python:MODULE:NAME, as python:mine:shout.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        thing = getattr(importlib.import_module(parts[1]), parts[2])
    except (ImportError, AttributeError) as error:
        raise UsageError(f"The attack {name!r} cannot be imported: {error}.") from error
    if hasattr(thing, "asks") and not isinstance(thing, type):
        return lambda: thing
    if not callable(thing):
        raise UsageError(
            f"{name!r} is a {type(thing).__name__}; expected an attack, its class, or a function "
            "of keyword arguments that makes one."
        )
    return thing  # type: ignore[no-any-return]
