"""Limits of settings, and settings that are changed by name.

Settings with their limits at the field: `learning_rate: float = positive(0.001)`.

`neutral` is the value with which a setting changes nothing: a model with it is the same model as
before there was the setting, and is found in the cache under the same key.

Settings that are changed by name: parsed from text, checked, and formatted again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeVar

from brittle.errors import unknown
from brittle.values import PARSERS, format_value, parse_values, split_settings, wrong_value

LIMIT, NEUTRAL = "limit", "neutral"
V = TypeVar("V")


@dataclass(frozen=True)
class Limit:
    """Which values a setting may have, also in words; `choices` are all of them, if few."""

    allows: Callable[[Any], bool]
    expected: str
    choices: tuple[str, ...] = ()


COUNT = Limit(lambda n: n >= 1, "1 or more")
COUNT_OR_ZERO = Limit(lambda n: n >= 0, "0 or more")
ANY_COUNTS = Limit(
    lambda values: all(type(n) is int and n > 0 for n in values), "whole numbers of 1 or more"
)
COUNTS = Limit(lambda values: bool(values) and ANY_COUNTS.allows(values), ANY_COUNTS.expected)
POSITIVE = Limit(lambda x: 0 < x < math.inf, "a number above 0")
NOT_NEGATIVE = Limit(lambda x: 0 <= x < math.inf, "a number of 0 or more")
SHARE = Limit(lambda x: 0 <= x < 1, "a share from 0 to below 1")
PORTION = Limit(lambda x: 0 < x <= 1, "a share above 0, up to 1")


def count(default: int) -> int:
    """Declare a whole number of 1 or more."""
    return _declared(default, COUNT)


def count_or_zero(default: int, neutral: int | None = None) -> int:
    """Declare a whole number of 0 or more."""
    return _declared(default, COUNT_OR_ZERO, neutral)


def counts(*default: int) -> tuple[int, ...]:
    """Declare whole numbers of 1 or more; without a default there may be none."""
    return _declared(default, COUNTS if default else ANY_COUNTS)


def positive(default: float) -> float:
    """Declare a number above 0."""
    return _declared(default, POSITIVE)


def not_negative(default: float) -> float:
    """Declare a number of 0 or more."""
    return _declared(default, NOT_NEGATIVE)


def share(default: float) -> float:
    """Declare a share that may be 0, but not 1, such as of features that drop out."""
    return _declared(default, SHARE)


def portion(default: float, neutral: float | None = None) -> float:
    """Declare a share that may be 1, but not 0, such as of data to learn from."""
    return _declared(default, PORTION, neutral)


def flag(default: bool, neutral: bool | None = None) -> bool:
    """Declare a setting that is on or off."""
    return _declared(default, None, neutral)


def one_of(*choices: str) -> str:
    """Declare a choice; the first one is the default."""
    return _declared(choices[0], Limit(choices.__contains__, "", choices))


def check_value(whose: str, settings: Any, name: str, value: Any) -> None:
    """Refuse a value beyond the limit of its field."""
    limit: Limit | None = _metadata(settings)[name].get(LIMIT)
    if limit is None or limit.allows(value):
        return
    if limit.choices:
        raise unknown(f"{name} of {whose}", value, limit.choices)
    raise wrong_value(whose, name, value, limit.expected)


def neutral_values(settings: Any) -> dict[str, Any]:
    """Return the settings that have a neutral value, each with that value."""
    return {
        name: metadata[NEUTRAL]
        for name, metadata in _metadata(settings).items()
        if metadata.get(NEUTRAL) is not None
    }


def _declared(default: V, limit: Limit | None, neutral: V | None = None) -> V:
    return field(default=default, metadata={LIMIT: limit, NEUTRAL: neutral})


def _metadata(settings: Any) -> dict[str, Any]:
    return {one.name: one.metadata for one in fields(settings)}


S = TypeVar("S")

FORMER_NAMES: Mapping[str, str] = {
    "max_length": "reads",
    "word_dropout": "forget",
    "max_word_length": "spelling",
    "char_filters": "kernels",
    "learning_rate": "rate",
    "weight_decay": "decay",
    "batch_size": "batch",
    "max_grad_norm": "clip",
    "subwords": "pieces",
    "batch_subwords": "batch_pieces",
}
"""The former names of settings.

Names and stored models may still use them, and cache keys and fingerprints are computed with
them, so that every stored model is found.
"""
PRESENT_NAMES: Mapping[str, str] = {former: name for name, former in FORMER_NAMES.items()}
# The settings at the end of a full name: LSTM-W-Random-1@mr#0?rate=0.1,hidden=64
_SETTINGS = re.compile(r"(?<=#)\d+\?.*")
_SETTING = re.compile(r"(?<=[?,])\w+(?==)")


def with_present_names(settings: Mapping[str, V]) -> dict[str, V]:
    """Return settings by their names of today.

    >>> with_present_names({"rate": 0.1, "hidden": 64})
    {'learning_rate': 0.1, 'hidden': 64}
    """
    return {PRESENT_NAMES.get(name, name): value for name, value in settings.items()}


def with_former_names(settings: Mapping[str, V]) -> dict[str, V]:
    """Return settings by the names that keys and fingerprints are made with."""
    return {FORMER_NAMES.get(name, name): value for name, value in settings.items()}


def present_name(full_name: str) -> str:
    """Return the full name of a model with the names that its settings have today.

    >>> present_name("LSTM-W-Random-1@mr#0?rate=0.1,hidden=64")
    'LSTM-W-Random-1@mr#0?learning_rate=0.1,hidden=64'
    """
    return _renamed(full_name, PRESENT_NAMES)


def former_name(full_name: str) -> str:
    """Return the full name of a model as it was before settings got the words of the field."""
    return _renamed(full_name, FORMER_NAMES)


def _renamed(full_name: str, names: Mapping[str, str]) -> str:
    def rename(settings: re.Match[str]) -> str:
        return _SETTING.sub(lambda found: names.get(found[0], found[0]), settings[0])

    return _SETTINGS.sub(rename, full_name)


def as_json(settings: Any) -> dict[str, Any]:
    """Return settings as plain values for JSON."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(settings).items()}


def with_changes(whose: str, settings: S, changes: Mapping[str, Any]) -> S:
    """Return settings with some of them changed; an unknown name or wrong value is an error."""
    kinds = _kinds(settings)
    checked: dict[str, Any] = {}
    for name, value in with_present_names(changes).items():
        if name not in kinds:
            raise unknown(f"setting of {whose}", name, kinds)
        if (kinds[name], type(value)) in ((float, int), (tuple, list)):
            value = kinds[name](value)  # 1 for 1.0, and the lists of JSON
        if type(value) is not kinds[name]:
            raise wrong_value(whose, name, value, PARSERS[kinds[name]][1])
        check_value(whose, settings, name, value)
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
    texts_by_name = with_present_names(split_settings(whose, texts, example))
    return parse_values(whose, kinds, texts_by_name)


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
