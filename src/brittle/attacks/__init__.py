"""The attacks by name. A new one is one file, one line here, and one row in the contract test."""

from __future__ import annotations

import importlib
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.asks import Attack
from brittle.attacks.own import check_attack, import_recipe
from brittle.errors import BrittleError, UsageError, unknown

ATTACKS: Mapping[str, str] = {
    "pwws": "brittle.attacks.pwws:pwws",
    "genetic": "brittle.attacks.genetic:genetic",
    "random-swap": "brittle.attacks.random_swap:random_swap",
    "strongest-swap": "brittle.attacks.strongest_swap:strongest_swap",
    "tack-on": "brittle.attacks.tack_on:tack_on",
    "hotflip": "brittle.attacks.hotflip:hotflip",
    "hotflip-words": "brittle.attacks.hotflip_words:hotflip_words",
    "key": "brittle.attacks.key:key",
    "key-any": "brittle.attacks.key:key_any",
    "jsma": "brittle.attacks.jsma:jsma",
}

Recipe = Callable[..., Attack]


FROM_THE_RUN = ("labels", "label_map")
"""Keywords of a recipe that the run fills in: the target's labels, {data label: target label}."""

KINDS = (bool, int, float, str)
"""What a setting can be, for a command line and a manifest to hold it."""


@dataclass(frozen=True)
class Setting:
    """One keyword argument of a recipe, as the command line offers it.

    A `required` one has no default; None stands in its place.
    """

    name: str
    kind: type
    default: Any
    help: str
    required: bool = False


def recipe(name: str) -> Recipe:
    """Find the recipe of a named attack, or the user's own as `python:module:name`."""
    if name.startswith("python:"):
        return import_recipe(name)
    if name.lower() not in ATTACKS:
        raise unknown("attack", name, ATTACKS, "Your own stands here as python:module:name.")
    module, function = ATTACKS[name.lower()].split(":")
    return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]


def settings(recipe: Recipe) -> list[Setting]:
    """List what can be set on an attack; `FROM_THE_RUN` is filled in by the run."""
    return [
        _setting(recipe, parameter)
        for name, parameter in _parameters(recipe).items()
        if name not in FROM_THE_RUN and parameter.kind is parameter.KEYWORD_ONLY
    ]


def build(
    name: str,
    given: Mapping[str, Any],
    labels: Sequence[str],
    label_map: Mapping[str, str] | None = None,
) -> Attack:
    """Make an attack from its name and its settings.

    `labels` are the target's, `label_map` says which of them a label of the data means.
    """
    made = recipe(name)
    known = {setting.name: setting for setting in settings(made)}
    for setting in given:
        if setting not in known:
            raise unknown(f"setting of {name}", setting, known)
    missing = [s for s in known.values() if s.required and given.get(s.name) is None]
    if missing:
        flags = ", ".join(
            f"--{s.name.replace('_', '-')} {s.kind.__name__.upper()}" for s in missing
        )
        raise UsageError(
            f"The attack {name!r} has no default for {', '.join(repr(s.name) for s in missing)}, "
            f"and got no value. Give it one: {flags}."
        )
    extra = {"labels": labels, "label_map": label_map}
    wanted = {key: value for key, value in extra.items() if key in _parameters(made)}
    if not name.startswith("python:"):
        return made(**given, **wanted)
    try:
        attack = made(**given, **wanted)
    except BrittleError:
        raise
    except Exception as error:
        raise UsageError(
            f"{name!r} raised {type(error).__name__}: {error}, when called to make the attack."
        ) from error
    return check_attack(name, attack)


def summary(recipe: Recipe) -> str:
    """Give the first line of what a recipe says of itself."""
    return (inspect.getdoc(recipe) or "").split("\n")[0]


def _parameters(recipe: Recipe) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(recipe, eval_str=True).parameters
    except Exception as error:  # a name in an annotation may be anything, and fail as anything
        raise UsageError(
            f"The arguments of {_called(recipe)} cannot be read ({type(error).__name__}: {error}). "
            "Expected keyword arguments, annotated by names that its module knows."
        ) from error


def _setting(recipe: Recipe, parameter: inspect.Parameter) -> Setting:
    required = parameter.default is parameter.empty
    default = None if required else parameter.default
    hint, told = parameter.annotation, ""
    if hint is parameter.empty:
        hint = str if default is None else type(default)
    if typing.get_origin(hint) is typing.Annotated:
        hint, told = typing.get_args(hint)[:2]
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        parts = [part for part in typing.get_args(hint) if part is not types.NoneType]
        hint = parts[0] if len(parts) == 1 else hint
    if hint not in KINDS:
        raise UsageError(
            f"The argument {parameter.name!r} of {_called(recipe)} is a "
            f"{getattr(hint, '__name__', hint)}; expected bool, int, float or str, for it to be a "
            "setting of the attack."
        )
    return Setting(parameter.name, hint, default, str(told), required)


def _called(thing: Any) -> str:
    return str(getattr(thing, "__qualname__", type(thing).__qualname__))
