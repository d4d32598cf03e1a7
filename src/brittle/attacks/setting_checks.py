"""Checks of the values of settings; the recipes call them, so that no run stops midway."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from brittle.errors import UsageError


def check_count(**settings: int) -> None:
    """Refuse a value that is not a whole number, 1 or more."""
    expected = "a whole number, 1 or more. Without the flag its default holds"
    _check(settings, expected, lambda value: isinstance(value, int) and value >= 1)


def check_positive(**settings: float) -> None:
    """Refuse a value that is not a positive, finite number."""
    expected = "a number above 0. Without the flag its default holds"
    _check(settings, expected, lambda value: _is_number(value) and 0 < value < math.inf)


def check_share(**settings: float) -> None:
    """Refuse a value that is not a share: above 0, at most 1."""
    expected = "a number above 0, at most 1. For a fifth of the words write {flag} 0.2"
    _check(settings, expected, lambda value: _is_number(value) and 0 < value <= 1)


def check_distance(**settings: float) -> None:
    """Refuse a value that is no change of a pixel: above 0, at most 1."""
    expected = "a number above 0, at most 1, for pixels are from 0 to 1. For 8 of 255 write 0.0314"
    _check(settings, expected, lambda value: _is_number(value) and 0 < value <= 1)


def check_threshold(**settings: float) -> None:
    """Refuse a value that is not a number from 0, which turns the threshold off, to 1."""
    expected = "a number from 0 to 1. To ask for none write {flag} 0"
    _check(settings, expected, lambda value: _is_number(value) and 0 <= value <= 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _check(settings: Mapping[str, Any], expected: str, is_fine: Callable[[Any], bool]) -> None:
    for name, value in settings.items():
        if not is_fine(value):
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"Got {flag} {value!r}; expected {expected.format(flag=flag)}.")
