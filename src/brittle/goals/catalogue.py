"""The goals by name: what each asks for, how it is written, and which answers it judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from brittle.answers import SCORES, TEXTS, AnswerKind
from brittle.goals.bleu import BleuBelow
from brittle.goals.drawn import parse_keyword
from brittle.goals.dropped import Dropped
from brittle.goals.protocol import Goal
from brittle.goals.texts import Changed, Copied, LengthRatio, Lost

BOTH = (SCORES, TEXTS)


@dataclass(frozen=True)
class GoalEntry:
    """One kind of goals; `parse` builds the goal from what follows its name and the colon.

    Goals that need more than that (the target's labels, other goals) are built in `parsing.py` and
    have no `parse`.
    """

    about: str
    form: str
    example: str
    judges: tuple[AnswerKind, ...]
    parse: Callable[[str], Goal] | None = None


GOALS: Mapping[str, GoalEntry] = {
    "untargeted": GoalEntry(
        "any other class is predicted (the default for classifiers)",
        *("untargeted", "untargeted", (SCORES,)),
    ),
    "toward": GoalEntry(
        "one class is predicted; alone it is the same as --toward",
        *("toward:LABEL", "toward:sports", (SCORES,)),
    ),
    "keyword": GoalEntry(
        "a word or phrase appears in the translation; without one, a word drawn for each case",
        *("keyword[:WORD]", "keyword:Art", (TEXTS,), parse_keyword),
    ),
    "changed": GoalEntry(
        "any other translation than before",
        *("changed", "changed", (TEXTS,), Changed.parse),
    ),
    "lost": GoalEntry(
        "the source has all the words, and the translation lost the partner of one",
        *("lost:WORD=PARTNER|PARTNER,…", "lost:stands=steht|stehen,sits=sitzt"),
        *((TEXTS,), Lost.parse),
    ),
    "dropped": GoalEntry(
        "the source has two of the words or more, and the translation has some of them, not all",
        *("dropped:WORD|FORM=PARTNER|FORM,…", "dropped:sits|sitting=sitzt|sitzen,eats=isst|essen"),
        *((TEXTS,), Dropped.parse),
    ),
    "bleu": GoalEntry(
        "sentence BLEU below a bound, against the example's reference, else the first translation",
        *("bleu:BOUND[,reference=example|translation]", "bleu:20", (TEXTS,), BleuBelow.parse),
    ),
    "length": GoalEntry(
        "the translation is so many times as long as before, or (below 1) as short",
        *("length:RATIO", "length:2", (TEXTS,), LengthRatio.parse),
    ),
    "copy": GoalEntry(
        "the source is not translated: this share of its words stand unchanged (default 0.8)",
        *("copy[:SHARE]", "copy", (TEXTS,), Copied.parse),
    ),
    "python": GoalEntry(
        "your function of (source, translation), or of (text, scores), says so",
        *("python:MODULE:NAME", "python:my_goals:probe", BOTH),
    ),
    "not": GoalEntry("a goal is not reached", "not:GOAL", "not:copy", BOTH),
    "any": GoalEntry(
        "one of several goals is reached",
        *("any(GOAL; GOAL)", "any(keyword:Art; length:2)", BOTH),
    ),
    "all": GoalEntry(
        "all of several goals are reached, as with several --goal",
        *("all(GOAL; GOAL)", "all(bleu:20; not:copy)", BOTH),
    ),
}


def fitting(answers: AnswerKind) -> list[str]:
    """List how the goals are written that judge this kind of answers."""
    return [entry.form for entry in GOALS.values() if answers in entry.judges]
