"""The goal `dropped`: the source has two of some words, and the translation has only one of them.

It is the second probe of Zhao et al. (2018): both verbs stand in the source, and one is missing in
the translation. Unlike `lost` it asks nothing of the original, so a search may come to such a
source from any sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brittle.answers import TEXTS, AnswerKind
from brittle.asks import Case
from brittle.errors import UsageError
from brittle.goals.protocol import Candidates, Losses, Wins
from brittle.goals.texts import judge_texts, share_kept, translation_before
from brittle.goals.words import best_match, folded_words

AT_LEAST = 2  # words in the source
Forms = tuple[str, ...]


@dataclass(frozen=True)
class Dropped:
    """The source has two of the words or more, and the translation has some of them, not all.

    `words` are the forms of a word in the source, each with the forms of its partner. The loss is
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
    """Return how near words come to one of the forms: 1 if it is there."""
    return max(best_match(words, folded_words(form)) for form in forms)
