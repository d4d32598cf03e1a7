"""Settings that are changed by name: parsed from text, checked, and formatted again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

from brittle.errors import unknown
from brittle.values import PARSERS, format_value, parse_values, split_settings, wrong_value
from brittle.zoo.names.limits import check_value

S = TypeVar("S")
V = TypeVar("V")

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
"""What settings were called before they got the words of the field.

Names and stored models may still have these. The keys of the cache and the fingerprints of models
are made with them: every model is found where it was.
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
