"""Settings that are changed by name: read from text, checked, and told again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

from brittle.errors import UsageError, unknown

S = TypeVar("S")

OPTIMIZERS = ("adam", "sgd")
ZERO_ALLOWED = ("frozen", "highways")  # numbers that may be 0; all other whole ones are 1 or more
SHARE_SETTINGS = ("dropout", "forget", "warmup")
POSITIVE_SETTINGS = ("rate", "smoothing", "penalty")


def as_json(settings: Any) -> dict[str, Any]:
    """Give settings as plain values, as they stand in JSON."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(settings).items()}


def with_changes(whose: str, settings: S, changes: Mapping[str, Any]) -> S:
    """Give settings with some of them changed; a strange name, kind or size is an error."""
    kinds = {f.name: type(getattr(settings, f.name)) for f in fields(settings)}  # type: ignore[arg-type]
    proper: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in kinds:
            raise unknown(f"setting of {whose}", name, kinds)
        if (kinds[name], type(value)) in ((float, int), (tuple, list)):
            value = kinds[name](value)  # as JSON gives them back
        if type(value) is not kinds[name]:
            raise _wrong(whose, name, value, _kind(kinds[name]))
        _check(whose, name, value)
        proper[name] = value
    return replace(settings, **proper)  # type: ignore[type-var]


def parse_settings(whose: str, settings: Any, given: Iterable[str]) -> dict[str, Any]:
    """Read `name=value` texts as the settings' own kinds of values; a later one counts.

    >>> from brittle.zoo.names.settings import NetworkSettings
    >>> parse_settings("LSTM", NetworkSettings(), ["hidden=64", "tuned=no", "widths=2+3"])
    {'hidden': 64, 'tuned': False, 'widths': (2, 3)}
    """
    kinds = {f.name: type(getattr(settings, f.name)) for f in fields(settings)}
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise UsageError(
                f"Got the setting {text!r} for {whose}. Expected NAME=VALUE, such as "
                f"{next(iter(kinds))}={getattr(settings, next(iter(kinds)))}."
            )
        if name not in kinds:
            raise unknown(f"setting of {whose}", name, kinds)
        try:
            found[name] = _READERS[kinds[name]](value)
        except (ValueError, KeyError) as error:
            raise _wrong(whose, name, value, _kind(kinds[name])) from error
    return found


def format_settings(changes: Mapping[str, Any]) -> str:
    """Tell changed settings as `parse_settings` takes them.

    >>> format_settings({"hidden": 64, "widths": (2, 3), "tuned": False})
    'hidden=64,widths=2+3,tuned=no'
    """
    return ",".join(f"{name}={_told(value)}" for name, value in changes.items())


def changed_settings(settings: Any, other: Any) -> dict[str, Any]:
    """Give the settings that are not as in the other ones, which are of the same kind."""
    own, theirs = as_json(settings), as_json(other)
    return {name: value for name, value in own.items() if value != theirs.get(name)}


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "+".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _check(whose: str, name: str, value: Any) -> None:
    if name == "optimizer" and value not in OPTIMIZERS:
        raise unknown(f"optimizer of {whose}", value, OPTIMIZERS)
    if isinstance(value, tuple) and not (value and all(type(v) is int and v > 0 for v in value)):
        raise _wrong(whose, name, value, "whole numbers of 1 or more")
    if type(value) is int and value < (name not in ZERO_ALLOWED):
        raise _wrong(whose, name, value, "0 or more" if name in ZERO_ALLOWED else "1 or more")
    if isinstance(value, float):
        if name in SHARE_SETTINGS and not 0 <= value < 1:
            raise _wrong(whose, name, value, "a share from 0 to below 1")
        if name in POSITIVE_SETTINGS and not 0 < value < float("inf"):
            raise _wrong(whose, name, value, "a number above 0")
        if not 0 <= value < float("inf"):
            raise _wrong(whose, name, value, "a number of 0 or more")


def _wrong(whose: str, name: str, got: Any, expected: str) -> UsageError:
    return UsageError(f"Got {got!r} for the setting {name} of {whose}. Expected {expected}.")


def _kind(kind: type) -> str:
    return {
        int: "a whole number",
        float: "a number",
        bool: "yes or no",
        tuple: "whole numbers such as 3+4+5",
        str: "a word",
    }[kind]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.replace(",", "+").split("+"))


_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_READERS: Mapping[type, Any] = {
    int: int,
    float: float,
    bool: lambda text: _YES[text.lower()],
    tuple: _numbers,
    str: str,
}
