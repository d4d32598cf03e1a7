"""What a changed text must keep of its original, apart from the goal: meaning, fluency.

Constraints: the least that a changed text must keep, by a measure.

How near a changed text is to its original, each measure as one number.

A measure is computed from a helper's answers about the two texts. Its name is a column of results
and steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from brittle.edits import diff, words_changed
from brittle.errors import UsageError

SIMILARITY_DIGITS = 4
Answers = Callable[[str, Sequence[Any]], tuple[list[Any], Mapping[int, Exception]]]
"""Answers a question about items: the answer, or None and the failure."""
Pair = tuple[Any, Any]
"""An original and a changed item."""


class Measure(Protocol):
    """A number for a pair of texts; it falls as the changed text moves away."""

    @property
    def name(self) -> str: ...

    @property
    def question(self) -> str:
        """The question whose answers it compares."""
        ...

    def value(self, pair: Pair, answers: Pair) -> float:
        """Compute it from the two items and the answers about them."""
        ...


@dataclass(frozen=True)
class Similar:
    """How alike two texts are in meaning: the cosine of their vectors, 1 for the same text.

    It is rounded, for the last digits depend on what else was computed in the same pass.
    """

    name: str = "similarity"
    question: str = "meaning"

    def value(self, pair: Pair, answers: Pair) -> float:
        return round(float(np.dot(*answers)), SIMILARITY_DIGITS)


@dataclass(frozen=True)
class Fluent:
    """How likely a language model finds the changed text beside the original, per changed word.

    0.1 means that every changed word makes the text ten times less likely (the geometric mean); 1
    is as likely as the original, and more is likelier.
    """

    name: str = "fluency"
    question: str = "fluency"

    def value(self, pair: Pair, answers: Pair) -> float:
        original, changed = answers
        words = max(1, words_changed(diff(*pair)))
        return float(10 ** ((changed - original) / words))


MEASURES: tuple[Measure, ...] = (Similar(), Fluent())


def compare(measure: Measure, pairs: Sequence[Pair], answers: Answers) -> list[float | None]:
    """Measure pairs of items, all at once; None where the helper failed.

    An item that is its own original keeps everything: it is not asked about.
    """
    changed = [n for n, (original, item) in enumerate(pairs) if item is not original]
    values: list[float | None] = [1.0] * len(pairs)
    if not changed:
        return values
    items = [item for n in changed for item in pairs[n]]
    payloads, failures = answers(measure.question, items)
    for i, n in enumerate(changed):
        has_failed = not failures.keys().isdisjoint((2 * i, 2 * i + 1))
        both = (payloads[2 * i], payloads[2 * i + 1])
        values[n] = None if has_failed else measure.value(pairs[n], both)
    return values


@dataclass(frozen=True)
class Constraint:
    """A constraint: a text whose measure lies below `least` is no adversary."""

    measure: Measure
    least: float

    def holds(self, value: float | None) -> bool:
        """Tell whether a value suffices; what could not be measured does not."""
        return value is not None and value >= self.least


STRICT = (Constraint(Fluent(), 0.05), Constraint(Similar(), 0.85))
"""The constraints of the preset `strict`, added to careful candidates; the cheaper one first."""


def constraints_of(
    meaning: float | None = None, fluent: float | None = None
) -> tuple[Constraint, ...]:
    """Build the constraints that a user asks for.

    >>> [(k.measure.name, k.least) for k in constraints_of(meaning=0.9)]
    [('similarity', 0.9)]
    """
    chosen = []
    for measure, least, flag, example in (
        (Similar(), meaning, "--keep-meaning", "0.85"),
        (Fluent(), fluent, "--keep-fluent", "0.05"),
    ):
        if least is None:
            continue
        if not (isinstance(least, int | float) and 0 < least <= 1):
            raise UsageError(
                f"Got {flag} {least!r}; expected a number above 0, at most 1, such as "
                f"{example}: the smallest allowed {measure.name} with the original."
            )
        chosen.append(Constraint(measure, float(least)))
    return tuple(chosen)


def strict(own: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """Return the constraints of the preset `strict`, those that a user asks for in their place."""
    named = {constraint.measure.name: constraint for constraint in own}
    return tuple(named.get(constraint.measure.name, constraint) for constraint in STRICT)


__all__ = [
    "MEASURES",
    "STRICT",
    "Constraint",
    "Fluent",
    "Measure",
    "Similar",
    "compare",
    "constraints_of",
    "strict",
]
