"""The attacks by name. A new one is one file, one line here, and one row in the contract test."""

from __future__ import annotations

import importlib
import inspect
import re
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from brittle.asks import Attack
from brittle.attacks.user_attacks import (
    RUN_ARGUMENTS,
    TARGET_WORDS,
    check_attack,
    import_recipe,
)
from brittle.errors import BrittleError, UsageError, unknown

if TYPE_CHECKING:
    from brittle.data.columns import Columns

ATTACKS: Mapping[str, str] = {
    "auto": "brittle.attacks.auto:auto",
    "rewrite": "brittle.attacks.auto:rewrite",
    "pwws": "brittle.attacks.pwws:pwws",
    "salient-swap": "brittle.attacks.salient_swap:salient_swap",
    "gradient-swap": "brittle.attacks.gradient_swap:gradient_swap",
    "genetic": "brittle.attacks.genetic:genetic",
    "exhaustive": "brittle.attacks.exhaustive:exhaustive",
    "random-swap": "brittle.attacks.random_swap:random_swap",
    "strongest-swap": "brittle.attacks.strongest_swap:strongest_swap",
    "tack-on": "brittle.attacks.tack_on:tack_on",
    "rules": "brittle.attacks.rules:rules",
    "hotflip": "brittle.attacks.hotflip:hotflip",
    "hotflip-words": "brittle.attacks.hotflip_words:hotflip_words",
    "key": "brittle.attacks.key:key",
    "key-any": "brittle.attacks.key:key_any",
    "typo": "brittle.attacks.typo:typo",
    "jsma": "brittle.attacks.jsma:jsma",
    "gs-gr": "brittle.attacks.spot_swap:gs_gr",
    "gs-ec": "brittle.attacks.spot_swap:gs_ec",
    "asmin-gr": "brittle.attacks.spot_swap:asmin_gr",
    "asmin-ec": "brittle.attacks.spot_swap:asmin_ec",
    "asmax-gr": "brittle.attacks.spot_swap:asmax_gr",
    "asmax-ec": "brittle.attacks.spot_swap:asmax_ec",
    "list": "brittle.attacks.list_swap:list_swap",
    "random-word": "brittle.attacks.random_word:random_word",
    "fgsm": "brittle.attacks.fgsm:fgsm",
    "noise": "brittle.attacks.noise:noise",
    "natural": "brittle.attacks.natural:natural",
}
OPTIONAL_LEARNING = ("entities", "spare")
"""Settings that make an attack learn from data; one that has them learns nothing without."""
SETTING_TYPES = (bool, int, float, str)
"""The types of settings that a command line and a manifest can hold."""

Recipe = Callable[..., Attack]
"""A function that builds an attack; its keyword arguments are the settings."""


@dataclass(frozen=True)
class Setting:
    """One keyword argument of a recipe, as the command line offers it.

    A `required` setting has no default, and `default` is None.
    """

    name: str
    kind: type
    default: Any
    help: str
    required: bool = False


def recipe(name: str) -> Recipe:
    """Return the recipe of a named attack, or the user's own as `python:module:name`."""
    if name.startswith("python:"):
        return import_recipe(name)
    if name.lower() not in ATTACKS:
        raise unknown("attack", name, ATTACKS, "Your own stands here as python:module:name.")
    module, function = ATTACKS[name.lower()].split(":")
    return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]


def settings(recipe: Recipe) -> list[Setting]:
    """List what can be set on an attack; the run fills in `RUN_ARGUMENTS`."""
    return [
        _setting(recipe, parameter)
        for name, parameter in _parameters(recipe).items()
        if name not in RUN_ARGUMENTS and parameter.kind is parameter.KEYWORD_ONLY
    ]


def default_settings(name: str) -> dict[str, Any]:
    """Return the settings of an attack by default; none for a live attack, which has no recipe."""
    is_named = name.startswith("python:") or name.lower() in ATTACKS
    return {item.name: item.default for item in settings(recipe(name))} if is_named else {}


def build(
    name: str,
    values: Mapping[str, Any],
    labels: Sequence[str],
    label_map: Mapping[str, str] | None = None,
    data_columns: Columns | None = None,
    open_generator: Callable[[str, int], Any] | None = None,
    target_words: Callable[[], Sequence[str]] = tuple,
    offers: Collection[str] = (),
) -> Attack:
    """Build an attack from its name and the values of its settings.

    `labels` are the target's, `label_map` tells which of them a label of the data means. What is
    learnt from a file is learnt from its `data_columns`, if it has them. `open_generator` opens a
    generator by its name, refined by so many steps. `target_words` lists the words to choose from,
    the most frequent first; it is called only for a recipe that takes them. `offers` are the
    questions that the target answers.
    """
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
            f"The attack {name!r} has no default for {', '.join(repr(s.name) for s in missing)}, "
            f"and got no value. Give it one: {flags}."
        )
    parameters = _parameters(build_attack)
    if (
        not labels
        and "labels" in parameters
        and parameters["labels"].default is inspect.Parameter.empty
    ):
        raise UsageError(
            f"The attack {name!r} needs the labels of a classifier, and this target has none: it "
            "answers texts. Use an attack that follows the goal alone, such as pwws, random-swap "
            "or key."
        )
    arguments = dict(values)
    run_values = (labels, label_map, data_columns, open_generator, offers)
    for argument, value in zip(RUN_ARGUMENTS, run_values):
        if argument in parameters:
            arguments[argument] = value
    if TARGET_WORDS in parameters:  # listing them may take a second
        arguments[TARGET_WORDS] = target_words()
    if not name.startswith("python:"):
        return build_attack(**arguments)
    try:
        attack = build_attack(**arguments)
    except BrittleError:
        raise
    except Exception as error:
        raise UsageError(
            f"{name!r} raised {type(error).__name__}: {error}, when called to make the attack."
        ) from error
    return check_attack(name, attack)


def resolve_attack(
    attack: str | Attack,
    overrides: Mapping[str, Any],
    labels: Sequence[str],
    dataset: str,
    label_map: Mapping[str, str] | None = None,
    data_columns: Columns | None = None,
    open_generator: Callable[[str, int], Any] | None = None,
    target_words: Callable[[], Sequence[str]] = tuple,
    offers: Collection[str] = (),
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
    run_arguments = (labels, label_map, data_columns, open_generator, target_words, offers)
    return build(name, values, *run_arguments), name, values


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


def item_kind(recipe: Recipe) -> str | None:
    """Return the kind of items that a recipe's attack edits, by what it says it returns.

    None if that depends on its settings.
    """
    kind = getattr(_signature(recipe).return_annotation, "item_kind", "text")
    return kind if isinstance(kind, str) else None


def wanted_mask(attack: str | Attack) -> str | None:
    """Return the mask with which the target of an attack is to be opened, if the attack says so."""
    made: Any = attack
    if isinstance(attack, str):
        made = recipe(attack)
        if not isinstance(made, type):
            made = _signature(made).return_annotation
    return getattr(made, "holes", None)


def summary(recipe: Recipe) -> str:
    """Return the first line of a recipe's docstring."""
    return (inspect.getdoc(recipe) or "").split("\n")[0]


def _parameters(recipe: Recipe) -> Mapping[str, inspect.Parameter]:
    return _signature(recipe).parameters


def _signature(recipe: Recipe) -> inspect.Signature:
    try:
        return inspect.signature(recipe, eval_str=True)
    except Exception as error:  # evaluating an annotation can fail in any way
        raise UsageError(
            f"The arguments of {_name(recipe)} cannot be read ({type(error).__name__}: {error}). "
            "Expected keyword arguments, annotated by names that its module knows."
        ) from error


def _setting(recipe: Recipe, parameter: inspect.Parameter) -> Setting:
    required = parameter.default is parameter.empty
    default = None if required else parameter.default
    hint, text = parameter.annotation, ""
    if hint is parameter.empty:
        hint = str if default is None else type(default)
    if typing.get_origin(hint) is typing.Annotated:
        hint, text = typing.get_args(hint)[:2]
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        parts = [part for part in typing.get_args(hint) if part is not types.NoneType]
        hint = parts[0] if len(parts) == 1 else hint
    if hint not in SETTING_TYPES:
        raise UsageError(
            f"The argument {parameter.name!r} of {_name(recipe)} is a "
            f"{getattr(hint, '__name__', hint)}; expected bool, int, float or str, for it to be a "
            "setting of the attack."
        )
    return Setting(parameter.name, hint, default, str(text), required)


def _name(recipe: Recipe) -> str:
    return str(getattr(recipe, "__qualname__", type(recipe).__qualname__))
