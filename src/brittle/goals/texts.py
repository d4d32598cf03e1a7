"""Goals on translations: a word appears, a word is lost, the length changes, nothing is translated.

Every loss is in 0..1. What the translation was before stands in `case.start`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.answers import TEXTS, AnswerKind
from brittle.asks import Case
from brittle.errors import UsageError
from brittle.goals.protocol import ALREADY_THERE, Candidates, Losses, Wins
from brittle.goals.words import best_match, folded_words

EMPTY = "empty translation"
"""The reason of a case that cannot be compared with the translation of its original."""

Measure = Callable[[Case[Any], str, str], tuple[float, bool]]
"""A function of case, source and translation that returns the loss and whether the goal is won."""


def judge_texts(candidates: Candidates, measure: Measure) -> tuple[Losses, Wins]:
    """Measure one candidate after another."""
    judged = [measure(case, str(item), answer) for case, item, answer in candidates.rows()]
    loss = np.array([loss for loss, _ in judged], dtype=np.float64)
    return loss, np.array([won for _, won in judged], dtype=np.bool_)


def translation_before(case: Case[Any], answer: str) -> str:
    """Return the translation of the original; while it is being started, that is the answer."""
    return answer if case.start is None else str(case.start.answers[0])


@dataclass(frozen=True)
class Keyword:
    """A word or phrase appears in the translation that was not there before.

    The loss is how near the translation comes to it (`best_match`): 1 where it is there.
    """

    keyword: str
    answers: AnswerKind = TEXTS

    @staticmethod
    def parse(value: str) -> Keyword:
        if not folded_words(value):
            raise UsageError(f"Got {value!r} as keyword; expected a word, as in keyword:Art.")
        return Keyword(value.strip())

    def __str__(self) -> str:
        return f"keyword:{self.keyword}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, self._measure)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return ALREADY_THERE if self._measure(case, "", answer)[1] else None

    def _measure(self, case: Case[Any], source: str, translation: str) -> tuple[float, bool]:
        match = best_match(folded_words(translation), folded_words(self.keyword))
        return match, match == 1.0


@dataclass(frozen=True)
class Lost:
    """The source has some words, and the translation has lost the partner of one of them.

    `pairs` are words of the source, each with its partners: a partner is lost if the translation
    has none of them. Until then the loss is half the share of the words of the original's
    translation that are gone; a winner's loss is above ½ and rises as less is left of the partner.
    A candidate without all the words in its source cannot win and has the loss 0.
    """

    pairs: tuple[tuple[str, tuple[str, ...]], ...]
    answers: AnswerKind = TEXTS

    @staticmethod
    def parse(value: str) -> Lost:
        pairs = []
        for part in value.split(","):
            word, _, alternatives = part.partition("=")
            partners = tuple(partner.strip() for partner in alternatives.split("|"))
            if not all(map(folded_words, (word, *partners))):
                raise UsageError(
                    f"Got {part!r} as a pair of lost:{value}; expected a word of the source and "
                    "its partner, as in lost:stands=steht|stehen,sits=sitzt."
                )
            pairs.append((word.strip(), partners))
        return Lost(tuple(pairs))

    def __str__(self) -> str:
        return "lost:" + ",".join(f"{word}={'|'.join(partners)}" for word, partners in self.pairs)

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, self._measure)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        missing = self._missing(str(case.item))
        if missing is not None:
            return f"no {missing!r} in the source"
        return "already lost" if self._kept(folded_words(answer)) < 1.0 else None

    def _missing(self, source: str) -> str | None:
        """Return the first word that a source lacks."""
        words = folded_words(source)
        lacked = (word for word, _ in self.pairs if best_match(words, folded_words(word)) < 1.0)
        return next(lacked, None)

    def _kept(self, words: list[str]) -> float:
        """Return how much is left of the partner of which least is left: 1 if none is lost."""
        return min(
            max(best_match(words, folded_words(partner)) for partner in partners)
            for _, partners in self.pairs
        )

    def _measure(self, case: Case[Any], source: str, translation: str) -> tuple[float, bool]:
        if self._missing(source) is not None:
            return 0.0, False
        words = folded_words(translation)
        kept = self._kept(words)
        if kept < 1.0:
            return 1.0 - kept / 2, True
        before = folded_words(translation_before(case, translation))
        return (1.0 - share_kept(before, words)) / 2, False


@dataclass(frozen=True)
class LengthRatio:
    """The translation is `ratio` times as long as the original's was, or more; below 1, or less.

    Lengths are in characters, so that scripts without spaces count too. The loss is the share of
    the way from the original's length to the one asked for.
    """

    ratio: float
    answers: AnswerKind = TEXTS

    @staticmethod
    def parse(value: str) -> LengthRatio:
        ratio = parse_number(value, "a ratio", "length:2 for twice as long, length:0.5 for half")
        if not 0 < ratio < np.inf or ratio == 1:
            raise UsageError(
                f"Got a ratio of {value}; expected a number above 1 (so much longer) or between 0 "
                "and 1 (so much shorter), as in length:2 or length:0.5."
            )
        return LengthRatio(ratio)

    def __str__(self) -> str:
        return f"length:{self.ratio:.15g}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, self._measure)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return None if answer.strip() else EMPTY

    def _measure(self, case: Case[Any], source: str, translation: str) -> tuple[float, bool]:
        before = len(translation_before(case, translation).strip())
        ratio = len(translation.strip()) / max(1, before)
        won = ratio >= self.ratio if self.ratio > 1 else ratio <= self.ratio
        way = (ratio - 1) / (self.ratio - 1)
        return min(1.0, max(0.0, way)), won


@dataclass(frozen=True)
class Copied:
    """The translation is a copy of the source: at least this share of its words stand unchanged.

    The loss is that share. Order and case do not count.
    """

    at_least: float = 0.8
    answers: AnswerKind = TEXTS

    @staticmethod
    def parse(value: str) -> Copied:
        if not value:
            return Copied()
        share = parse_number(value, "a share", "copy:0.8")
        if not 0 < share <= 1:
            raise UsageError(f"Got a share of {value}; expected one above 0, at most 1 (copy:0.8).")
        return Copied(share)

    def __str__(self) -> str:
        return f"copy:{self.at_least:.15g}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, self._measure)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return "already a copy" if self._measure(case, str(case.item), answer)[1] else None

    def _measure(self, case: Case[Any], source: str, translation: str) -> tuple[float, bool]:
        words = folded_words(source)
        share = share_kept(words, folded_words(translation)) if words else 0.0
        return share, share >= self.at_least


@dataclass(frozen=True)
class Changed:
    """The translation is another than that of the original; blanks around it do not count.

    The loss is 0 where it is the same; else ½ and more, by the share of words that the two do not
    have in common.
    """

    answers: AnswerKind = TEXTS

    @staticmethod
    def parse(value: str) -> Changed:
        if value:
            raise UsageError(f"Got the goal changed:{value}; expected changed, with nothing more.")
        return Changed()

    def __str__(self) -> str:
        return "changed"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, self._measure)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return None

    def _measure(self, case: Case[Any], source: str, translation: str) -> tuple[float, bool]:
        before = translation_before(case, translation)
        if translation.strip() == before.strip():
            return 0.0, False
        old, new = folded_words(before), folded_words(translation)
        common = share_kept(old, new) * len(old)
        return 1.0 - common / max(1, len(old) + len(new)), True


def share_kept(words: list[str], others: list[str]) -> float:
    """Return the share of words that are among others too, each as often as it is there."""
    return sum((Counter(words) & Counter(others)).values()) / max(1, len(words))


def parse_number(value: str, what: str, example: str) -> float:
    """Parse a number of a goal's spec."""
    try:
        return float(value)
    except ValueError:
        raise UsageError(f"Got {value!r} as {what}; expected a number, as in {example}.") from None
