"""What a changed text must keep of its original, apart from the goal: meaning, fluency."""

from __future__ import annotations

from brittle.constraints.keeping import STRICT, Constraint, constraints_of, strict
from brittle.constraints.measures import MEASURES, Fluent, Measure, Similar, compare

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
