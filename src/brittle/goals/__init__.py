"""Goals: what counts as adversarial, apart from the search for it. What a win is stands here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brittle.values import lazily

if TYPE_CHECKING:
    from brittle.goals.applications import CallsTool, Contains, Matches
    from brittle.goals.bleu import BleuBelow, bleu_signature, corpus_bleu
    from brittle.goals.classes import (
        OF_THE_CLASS_AIMED_AT,
        Below,
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
    from brittle.goals.silence import NeedsAnswer, needs_answer, status_of_silence
    from brittle.goals.texts import Changed, Copied, Dropped, Keyword, LengthRatio, Lost

__all__ = [
    "OF_THE_CLASS_AIMED_AT",
    "AllOf",
    "AnyOf",
    "Below",
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
    "NeedsAnswer",
    "Not",
    "Targeted",
    "Untargeted",
    "Wins",
    "bleu_signature",
    "corpus_bleu",
    "is_class_goal",
    "is_reached",
    "judge_one",
    "needs_answer",
    "needs_other_class",
    "spec_of",
    "status_of_silence",
]

__getattr__ = lazily(
    __name__,
    {
        "applications": ("CallsTool", "Contains", "Matches"),
        "bleu": ("BleuBelow", "bleu_signature", "corpus_bleu"),
        "classes": (
            *("OF_THE_CLASS_AIMED_AT", "Below", "Confident", "Targeted", "Untargeted"),
            *("is_class_goal", "is_reached", "needs_other_class"),
        ),
        "combined": ("AllOf", "AnyOf", "DrawnKeyword", "Not"),
        "functions": ("FunctionGoal", "Measured"),
        "protocol": ("Candidates", "Goal", "Losses", "Wins", "judge_one", "spec_of"),
        "silence": ("NeedsAnswer", "needs_answer", "status_of_silence"),
        "texts": ("Changed", "Copied", "Dropped", "Keyword", "LengthRatio", "Lost"),
    },
)
"""Goals are imported on first use: reading a run needs few of them."""
