"""What a changed text must keep of its original, apart from the goal: meaning, fluency."""

from __future__ import annotations

from brittle.constraints.keeping import STRICT, Keep, keep, strict
from brittle.constraints.measures import MEASURES, Fluent, Measure, Similar, compare

__all__ = [
    "MEASURES",
    "STRICT",
    "Fluent",
    "Keep",
    "Measure",
    "Similar",
    "compare",
    "keep",
    "strict",
]
