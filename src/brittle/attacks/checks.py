"""What a setting's value must be; the recipes ask, so that a wrong value ends nothing midway."""

from __future__ import annotations

import math

from brittle.errors import UsageError


def count(**given: int) -> None:
    """Refuse a setting that counts something and is no whole number from 1 on."""
    for name, value in given.items():
        if not isinstance(value, int) or value < 1:
            raise UsageError(
                f"Got {_flag(name)} {value!r}; expected a whole number, 1 or more. "
                "Without the flag its default holds."
            )


def positive(**given: float) -> None:
    """Refuse a setting that must be a positive, finite number."""
    for name, value in given.items():
        if not isinstance(value, int | float) or not 0 < value < math.inf:
            raise UsageError(
                f"Got {_flag(name)} {value!r}; expected a number above 0. "
                "Without the flag its default holds."
            )


def share(**given: float) -> None:
    """Refuse a setting that must be a share: above 0, at most 1."""
    for name, value in given.items():
        if not isinstance(value, int | float) or not 0 < value <= 1:
            raise UsageError(
                f"Got {_flag(name)} {value!r}; expected a number above 0, at most 1. "
                f"For a fifth of the words write {_flag(name)} 0.2."
            )


def threshold(**given: float) -> None:
    """Refuse a setting that must be a number from 0, which turns it off, to 1."""
    for name, value in given.items():
        if not isinstance(value, int | float) or not 0 <= value <= 1:
            raise UsageError(
                f"Got {_flag(name)} {value!r}; expected a number from 0 to 1. "
                f"To ask for none write {_flag(name)} 0."
            )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
