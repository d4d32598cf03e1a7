"""Goals: what counts as adversarial, apart from the search for it. What a win is stands here."""

from brittle.goals.classes import (
    OF_THE_CLASS_AIMED_AT,
    Confident,
    Targeted,
    Untargeted,
    is_reached,
)
from brittle.goals.combined import AllOf, AnyOf, Not
from brittle.goals.measured import Measured
from brittle.goals.protocol import Candidates, Goal, Losses, Wins, judge_one

__all__ = [
    "OF_THE_CLASS_AIMED_AT",
    "AllOf",
    "AnyOf",
    "Candidates",
    "Confident",
    "Goal",
    "Losses",
    "Measured",
    "Not",
    "Targeted",
    "Untargeted",
    "Wins",
    "is_reached",
    "judge_one",
]
