"""Goals on what an application answers: it says a text, it calls a tool, or a pattern matches.

The answer may consist of several, to the same text asked again: a goal is reached if more than half
of them reach it, and the loss is their mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

import numpy as np
import regex

from brittle.answers import TEXTS, TOOL_MARK, AnswerKind, split_texts
from brittle.asks import Case
from brittle.errors import UsageError
from brittle.goals.protocol import ALREADY_THERE, Candidates, Losses, Wins
from brittle.goals.texts import folded_words, judge_texts, share_kept, translation_before

MAX_COMPARED_CHARACTERS = 2_000
"""Of an answer that does not hold the text: how near it comes is measured in so many."""
REGEX_SECONDS = 1.0


@dataclass(frozen=True)
class Contains:
    """The answer contains a text; case does not count.

    The loss is the longest part of the text that the answer has, as a share of it.
    """

    text: str
    answers: AnswerKind = TEXTS

    @staticmethod
    def parse(value: str) -> Contains:
        return Contains(value)

    def __str__(self) -> str:
        return f"contains:{self.text}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, lambda _, __, answer: _most(answer, self._measure))

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return ALREADY_THERE if _most(answer, self._measure)[1] else None

    def _measure(self, answer: str) -> tuple[float, bool]:
        text, folded = self.text.casefold(), answer.casefold()
        if text in folded:
            return 1.0, True
        matcher = SequenceMatcher(None, folded[:MAX_COMPARED_CHARACTERS], text, autojunk=False)
        return matcher.find_longest_match().size / max(1, len(text)), False


@dataclass(frozen=True)
class CallsTool:
    """The answer calls a tool of this name.

    Until then the loss is half the share of the words of the original's answer that are gone.
    """

    tool: str
    answers: AnswerKind = TEXTS

    @staticmethod
    def parse(value: str) -> CallsTool:
        if len(value.split()) != 1:
            raise UsageError(f"Got {value!r} as a tool; expected its name, as in tool:send_email.")
        return CallsTool(value)

    def __str__(self) -> str:
        return f"tool:{self.tool}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, lambda case, _, a: _moved(case, a, self._is_called))

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return ALREADY_THERE if _most(answer, lambda a: (0.0, self._is_called(a)))[1] else None

    def _is_called(self, answer: str) -> bool:
        call = f"{TOOL_MARK} {self.tool}"
        return any(line == call or line.startswith(f"{call} ") for line in answer.split("\n"))


@dataclass(frozen=True)
class Matches:
    """The answer has a part that a regular expression matches.

    Until then the loss is half the share of the words of the original's answer that are gone. A
    match that takes longer than a second counts as none.
    """

    pattern: str
    answers: AnswerKind = TEXTS

    @staticmethod
    def parse(value: str) -> Matches:
        try:
            _compiled(value)
        except regex.error as error:
            raise UsageError(
                f"Got {value!r} as a regular expression: {error}. Expected one such as "
                r"matches:\bsk-\w+."
            ) from error
        return Matches(value)

    def __str__(self) -> str:
        return f"matches:{self.pattern}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, lambda case, _, a: _moved(case, a, self._has_match))

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return ALREADY_THERE if _most(answer, lambda a: (0.0, self._has_match(a)))[1] else None

    def _has_match(self, answer: str) -> bool:
        try:
            return _compiled(self.pattern).search(answer, timeout=REGEX_SECONDS) is not None
        except TimeoutError:
            return False


def _most(answer: str, measure: Callable[[str], tuple[float, bool]]) -> tuple[float, bool]:
    """Measure every answer to one text: their mean loss, and whether more than half have won."""
    measured = [measure(part) for part in split_texts(answer)]
    wins = sum(won for _, won in measured)
    return float(np.mean([loss for loss, _ in measured])), 2 * wins > len(measured)


def _moved(case: Case[Any], answer: str, is_won: Callable[[str], bool]) -> tuple[float, bool]:
    before = folded_words(translation_before(case, answer))

    def measure(part: str) -> tuple[float, bool]:
        if is_won(part):
            return 1.0, True
        return (1.0 - share_kept(before, folded_words(part))) / 2, False

    return _most(answer, measure)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    return regex.compile(pattern)
