"""Goals: what counts as adversarial, apart from the search for it. What a win is stands here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brittle.values import lazily

if TYPE_CHECKING:
    from brittle.goals.applications import CallsTool, Contains, Matches
    from brittle.goals.bleu import BleuBelow, bleu_signature, corpus_bleu
    from brittle.goals.classes import (
        OF_THE_CLASS_AIMED_AT,
        Confident,
        Targeted,
        Untargeted,
        is_class_goal,
        is_reached,
        needs_other_class,
    )
    from brittle.goals.combined import AllOf, AnyOf, DrawnKeyword, Not
    from brittle.goals.functions import FunctionGoal, Measured
    from brittle.goals.protocol import Candidates, Goal, Losses, Wins, judge_one, spec_of
    from brittle.goals.silence import Answered, answered
    from brittle.goals.texts import Changed, Copied, Dropped, Keyword, LengthRatio, Lost

__all__ = [
    "OF_THE_CLASS_AIMED_AT",
    "AllOf",
    "Answered",
    "AnyOf",
    "BleuBelow",
    "CallsTool",
    "Candidates",
    "Changed",
    "Confident",
    "Contains",
    "Copied",
    "DrawnKeyword",
    "Dropped",
    "FunctionGoal",
    "Goal",
    "Keyword",
    "LengthRatio",
    "Losses",
    "Lost",
    "Matches",
    "Measured",
    "Not",
    "Targeted",
    "Untargeted",
    "Wins",
    "answered",
    "bleu_signature",
    "corpus_bleu",
    "is_class_goal",
    "is_reached",
    "judge_one",
    "needs_other_class",
    "spec_of",
]

__getattr__ = lazily(
    __name__,
    {
        "silence": ("Answered", "answered"),
        "applications": ("CallsTool", "Contains", "Matches"),
        "bleu": ("BleuBelow", "bleu_signature", "corpus_bleu"),
        "classes": (
            *("OF_THE_CLASS_AIMED_AT", "Confident", "Targeted", "Untargeted"),
            *("is_class_goal", "is_reached", "needs_other_class"),
        ),
        "combined": ("AllOf", "AnyOf", "DrawnKeyword", "Not"),
        "functions": ("FunctionGoal", "Measured"),
        "protocol": ("Candidates", "Goal", "Losses", "Wins", "judge_one", "spec_of"),
        "texts": ("Changed", "Copied", "Dropped", "Keyword", "LengthRatio", "Lost"),
    },
)
"""A goal is imported when it is used: reading a run needs few of them."""
