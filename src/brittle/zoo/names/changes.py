"""Settings that are changed by name: parsed from text, checked, and formatted again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

from brittle.errors import unknown
from brittle.values import PARSERS, format_value, parse_values, split_settings, wrong_value

S = TypeVar("S")

OPTIMIZERS = ("adam", "sgd")
# All other whole numbers are 1 or more.
ZERO_ALLOWED = ("frozen", "generator_steps", "highways", "joined", "layers", "sampled", "width")
SHARE_SETTINGS = (
    *("dropout", "forget", "label_smoothing", "warmup", "first_beta", "second_beta"),
    "to_encoder",
)
POSITIVE_SHARES = ("data_share",)
POSITIVE_SETTINGS = (
    *("rate", "inverter_rate", "generator_rate", "critic_rate", "clamp", "smoothing", "penalty"),
    "character_scale",
)


def as_json(settings: Any) -> dict[str, Any]:
    """Return settings as plain values for JSON."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(settings).items()}


def with_changes(whose: str, settings: S, changes: Mapping[str, Any]) -> S:
    """Return settings with some of them changed; an unknown name or wrong value is an error."""
    kinds = _kinds(settings)
    checked: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in kinds:
            raise unknown(f"setting of {whose}", name, kinds)
        if (kinds[name], type(value)) in ((float, int), (tuple, list)):
            value = kinds[name](value)  # 1 for 1.0, and the lists of JSON
        if type(value) is not kinds[name]:
            raise wrong_value(whose, name, value, PARSERS[kinds[name]][1])
        _check(whose, name, value)
        checked[name] = value
    return replace(settings, **checked)  # type: ignore[type-var]


def parse_settings(whose: str, settings: Any, texts: Iterable[str]) -> dict[str, Any]:
    """Parse texts such as `hidden=64` to values of the kinds that the settings have.

    >>> from brittle.zoo.names.settings import NetworkSettings
    >>> parse_settings("LSTM", NetworkSettings(), ["hidden=64", "tuned=no", "widths=2+3"])
    {'hidden': 64, 'tuned': False, 'widths': (2, 3)}
    """
    kinds = _kinds(settings)
    first = next(iter(kinds))
    example = f"{first}={getattr(settings, first)}"
    return parse_values(whose, kinds, split_settings(whose, texts, example))


def format_settings(changes: Mapping[str, Any]) -> str:
    """Format changed settings as `parse_settings` parses them.

    >>> format_settings({"hidden": 64, "widths": (2, 3), "tuned": False})
    'hidden=64,widths=2+3,tuned=no'
    """
    return ",".join(f"{name}={format_value(value)}" for name, value in changes.items())


def changed_settings(settings: Any, other: Any) -> dict[str, Any]:
    """Return the settings that differ from other settings of the same kind."""
    values, others = as_json(settings), as_json(other)
    return {name: value for name, value in values.items() if value != others.get(name)}


def _kinds(settings: Any) -> dict[str, type]:
    return {field.name: type(getattr(settings, field.name)) for field in fields(settings)}


def _check(whose: str, name: str, value: Any) -> None:
    if name == "optimizer" and value not in OPTIMIZERS:
        raise unknown(f"optimizer of {whose}", value, OPTIMIZERS)
    if isinstance(value, tuple) and not (value and all(type(v) is int and v > 0 for v in value)):
        raise wrong_value(whose, name, value, "whole numbers of 1 or more")
    if type(value) is int and value < (name not in ZERO_ALLOWED):
        raise wrong_value(whose, name, value, "0 or more" if name in ZERO_ALLOWED else "1 or more")
    if isinstance(value, float):
        if name in SHARE_SETTINGS and not 0 <= value < 1:
            raise wrong_value(whose, name, value, "a share from 0 to below 1")
        if name in POSITIVE_SHARES and not 0 < value <= 1:
            raise wrong_value(whose, name, value, "a share above 0, up to 1")
        if name in POSITIVE_SETTINGS and not 0 < value < float("inf"):
            raise wrong_value(whose, name, value, "a number above 0")
        if not 0 <= value < float("inf"):
            raise wrong_value(whose, name, value, "a number of 0 or more")
