"""Settings with their limits at the field: `learning_rate: float = positive(0.001)`.

`neutral` is the value with which a setting changes nothing: a model with it is the same model as
before there was the setting, and is found in the cache under the same key.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from brittle.errors import unknown
from brittle.values import wrong_value

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
