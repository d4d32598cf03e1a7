"""Values of settings, parsed from text: one table for flags, names of models and `--set`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from brittle.errors import UsageError, unknown

YES_OR_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def _parse_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.replace(",", "+").split("+"))


PARSERS: Mapping[type, tuple[Callable[[str], Any], str]] = {
    bool: (lambda text: YES_OR_NO[text.lower()], "yes or no"),
    int: (int, "a whole number"),
    float: (float, "a number"),
    tuple: (_parse_numbers, "whole numbers such as 3+4+5"),
    str: (str, "a text"),
}
"""For every type of value: the function that parses it, and what it expects, in words."""


def parse_value(whose: str, name: str, kind: type, text: str) -> Any:
    """Parse the value of a setting; `whose` names its owner in the error message.

    >>> parse_value("LSTM", "tuned", bool, "no"), parse_value("CNN", "widths", tuple, "2+3")
    (False, (2, 3))
    """
    parse, expected = PARSERS[kind]
    try:
        return parse(text)
    except (ValueError, KeyError) as error:
        raise wrong_value(whose, name, text, expected) from error


def parse_values(
    whose: str, kinds: Mapping[str, type], values: Mapping[str, str]
) -> dict[str, Any]:
    """Parse several settings, each by its own type; an unknown name is an error."""
    for name in values:
        if name not in kinds:
            raise unknown(f"setting of {whose}", name, kinds)
    return {name: parse_value(whose, name, kinds[name], text) for name, text in values.items()}


def split_settings(whose: str, parts: Iterable[str], example: str) -> dict[str, str]:
    """Split texts such as `hidden=64` into names and values; a later value replaces an earlier one.

    >>> split_settings("LSTM", ["hidden=64", "rate = 0.1"], "hidden=32")
    {'hidden': '64', 'rate': '0.1'}
    """
    settings = {}
    for part in parts:
        name, equals, value = (text.strip() for text in part.partition("="))
        if not equals or not name or not value:
            raise UsageError(
                f"Got the setting {part!r} for {whose}. Expected NAME=VALUE, such as {example}."
            )
        settings[name] = value
    return settings


def format_value(value: Any) -> str:
    """Format a value as `parse_value` parses it.

    >>> format_value(False), format_value((2, 3)), format_value(0.1)
    ('no', '2+3', '0.1')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "+".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def wrong_value(whose: str, name: str, got: Any, expected: str) -> UsageError:
    """Build the error for a value of the wrong type or size."""
    return UsageError(f"Got {got!r} for the setting {name} of {whose}. Expected {expected}.")
