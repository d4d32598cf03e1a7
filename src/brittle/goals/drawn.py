"""A goal with a keyword of its own for every case, drawn before the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brittle.answers import TEXTS, AnswerKind
from brittle.asks import Case
from brittle.goals.protocol import Candidates, Goal, Losses, Wins, judge_one
from brittle.goals.texts import Keyword, judge_texts

NO_KEYWORD = "no keyword to draw from other translations"


@dataclass(frozen=True)
class DrawnKeyword:
    """The keyword of the case (`Case.keyword`) appears in its translation, as of `Keyword`."""

    answers: AnswerKind = TEXTS

    def __str__(self) -> str:
        return "keyword"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, self._measure)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        if case.keyword is None:
            return NO_KEYWORD
        return Keyword(case.keyword).unfit(case, answer)

    def _measure(self, case: Case[Any], source: str, translation: str) -> tuple[float, bool]:
        if case.keyword is None:
            return 0.0, False
        return judge_one(Keyword(case.keyword), case, case.item, translation)


def parse_keyword(value: str) -> Goal:
    """Build the goal of one keyword for all cases or, without a word, of one for each."""
    return Keyword.parse(value) if value else DrawnKeyword()
