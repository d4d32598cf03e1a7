"""Constraints: the least that a changed text must keep, by a measure."""

from __future__ import annotations

from dataclasses import dataclass

from brittle.constraints.measures import Fluent, Measure, Similar
from brittle.errors import UsageError


@dataclass(frozen=True)
class Constraint:
    """A constraint: a text whose measure lies below `least` is no adversary."""

    measure: Measure
    least: float

    def holds(self, value: float | None) -> bool:
        """Tell whether a value suffices; what could not be measured does not."""
        return value is not None and value >= self.least


STRICT = (Constraint(Fluent(), 0.05), Constraint(Similar(), 0.85))
"""The constraints of the preset `strict`, beside careful candidates; the cheaper is asked first."""


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
                f"Got {flag} {least!r}; expected a number above 0, at most 1, such as {example}: "
                f"the least {measure.name} with the original."
            )
        chosen.append(Constraint(measure, float(least)))
    return tuple(chosen)


def strict(own: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """Return the constraints of the preset `strict`, those that a user asks for in their place."""
    named = {constraint.measure.name: constraint for constraint in own}
    return tuple(named.get(constraint.measure.name, constraint) for constraint in STRICT)
