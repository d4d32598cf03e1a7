"""Goals on translations: a word appears or is lost, the length changes, nothing is translated.

Words of translations as goals compare them: case-blind, whole, and by how alike they are. Goals on
translations: a word appears, a word is lost, the length changes, nothing is translated. Every loss
is in 0..1. What the translation was before stands in `case.start`. The goal `dropped`: the source
has two of some words, and the translation has only one of them.

It is the second probe of Zhao et al. (2018): both verbs stand in the source, and one is missing in
the translation. Unlike `lost` it asks nothing of the original, so a search may come to such a
source from any sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any
from unicodedata import normalize

import numpy as np

from brittle.answers import TEXTS, AnswerKind
from brittle.asks import Case
from brittle.errors import UsageError
from brittle.goals.protocol import ALREADY_THERE, Candidates, Losses, Wins
from brittle.text import words_of

MIN_SIMILARITY_BY_LENGTH = 0.2
"""Words with a similarity below this, judged by their lengths alone, count as different."""


def folded_words(text: str) -> list[str]:
    """List the words of a text, without differences of case and of composed characters.

    >>> folded_words("Die Straße, das ÉTÉ!")
    ['die', 'strasse', 'das', 'été']
    """
    return [normalize("NFC", word.casefold()) for word in words_of(text)]


@lru_cache(maxsize=1 << 16)
def similarity(word: str, other: str) -> float:
    """Return how alike two words are: 2 · common characters in order / all characters.

    It is 1 for equal words only. (difflib's ratio.)

    >>> similarity("art", "art"), similarity("arm", "art"), similarity("no", "art")
    (1.0, 0.6666666666666666, 0.0)
    """
    shorter, both = min(len(word), len(other)), len(word) + len(other)
    if 2 * shorter < MIN_SIMILARITY_BY_LENGTH * both:
        return 0.0
    return SequenceMatcher(None, word, other, autojunk=False).ratio()


def best_match(words: Sequence[str], phrase: Sequence[str]) -> float:
    """Return how near words come to a phrase, in 0..1: 1 exactly where they contain it.

    It is the highest mean similarity of as many consecutive words to the words of the phrase.

    >>> best_match(["viel", "arte"], ["art"]) == similarity("arte", "art")
    True
    >>> best_match(["auf", "jeden", "fall"], ["jeden", "fall"]), best_match([], ["art"])
    (1.0, 0.0)
    """
    starts = range(max(1, len(words) - len(phrase) + 1))
    return max(
        sum(similarity(word, part) for word, part in zip(words[start:], phrase)) / len(phrase)
        for start in starts
    )


EMPTY = "empty translation"
"""The reason of a case whose translation cannot be compared with that of its original."""

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
                f"Got a ratio of {value}; expected a number above 1 (longer) or between 0 "
                "and 1 (shorter), as in length:2 or length:0.5."
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
            raise UsageError(f"Got the goal changed:{value}; expected changed alone.")
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


AT_LEAST = 2  # words in the source
ANY_END = "*"
"""The end of a form that stands for all words that begin like it."""
Forms = tuple[str, ...]


@dataclass(frozen=True)
class Dropped:
    """The source has two of the words or more, and the translation has some of them, not all.

    `words` are the forms of a word in the source, each with the forms of its partner; sitz* is
    every form that begins so, as nouns of the same stem do. The loss is
    up to ¼ as words come into the source, up to ½ as the translation of the original goes away, and
    ½ if all partners are gone; a winner's is above ½ and rises as less is left of a partner.
    """

    words: tuple[tuple[Forms, Forms], ...]
    answers: AnswerKind = TEXTS

    @staticmethod
    def parse(value: str) -> Dropped:
        words = []
        for part in value.split(","):
            sides = [tuple(form.strip() for form in side.split("|")) for side in part.split("=", 1)]
            if len(sides) != 2 or not all(map(folded_words, sides[0] + sides[1])):
                raise UsageError(
                    f"Got {part!r} as a part of dropped:{value}; expected forms of a word of the "
                    "source and of its partner, as in dropped:sits|sitting=sitzt|sitzen,eats=isst."
                )
            words.append((sides[0], sides[1]))
        if len(words) < AT_LEAST:
            raise UsageError(
                f"Got one word in dropped:{value}; expected two or more, as in "
                "dropped:sits|sitting=sitzt|sitzen,eats|eating=isst|essen. For one word: lost."
            )
        return Dropped(tuple(words))

    def __str__(self) -> str:
        parts = ["=".join("|".join(forms) for forms in word) for word in self.words]
        return "dropped:" + ",".join(parts)

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, self._measure)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return "already dropped" if self._measure(case, str(case.item), answer)[1] else None

    def _measure(self, case: Case[Any], source: str, translation: str) -> tuple[float, bool]:
        read, written = folded_words(source), folded_words(translation)
        partners = [partner for forms, partner in self.words if _nearest(read, forms) == 1.0]
        if len(partners) < AT_LEAST:
            return len(partners) / (4 * AT_LEAST), False
        left = [_nearest(written, forms) for forms in partners]
        if max(left) < 1.0:
            return 0.5, False
        if min(left) < 1.0:
            return 1.0 - min(left) / 2, True
        before = folded_words(translation_before(case, translation))
        return (2.0 - share_kept(before, written)) / 4, False


def _nearest(words: list[str], forms: Forms) -> float:
    """Return how near words come to one of the forms: 1 if it is there.

    A form that ends in * stands for all words that begin so.

    >>> _nearest(["zwei", "tänzer"], ("tanzt", "tänz*")), _nearest(["ein", "tänzer"], ("tanzt*",))
    (1.0, 0.5454545454545454)
    """
    return max(_match(words, form) for form in forms)


def _match(words: list[str], form: str) -> float:
    parts = folded_words(form)
    if form.endswith(ANY_END) and any(word.startswith(parts[-1]) for word in words):
        return 1.0
    return best_match(words, parts)
