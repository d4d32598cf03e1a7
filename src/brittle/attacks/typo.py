"""Typo: random words become typos of theirs, from a list; no search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from brittle.asks import Case, Search, Try, Unfit
from brittle.attacks.registry import registered
from brittle.attacks.setting_checks import check_count
from brittle.proposals.typos import Typos
from brittle.text import Text

NO_LISTED_WORD = "no word with a listed typo"


@dataclass(frozen=True)
class Typo:
    """Replace random words by random typos of theirs (Hsieh et al., 2019: one word a sentence).

    Only words that the list has are drawn, and as many as there are if they are fewer than
    `words`. The changed text is kept whatever it does to the goal, so that a corpus can be
    measured with all its typos; of several `draws` the one that comes nearest to the goal is.

    Random draws, in order: for each text drawn, a `sample` of the positions that have typos, then
    a `choice` among the typos of each. Equal texts are asked once.
    """

    typos: Typos
    words: int = 1
    draws: int = 1
    asks: ClassVar = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        words = {i: word for i in case.positions if isinstance(word := case.text.words[i], str)}
        options = {i: typos for i, word in words.items() if (typos := self.typos.of(word))}
        if not options:
            raise Unfit(NO_LISTED_WORD)
        drawn = [self._draw(case.text, options, rng) for _ in range(self.draws)]
        yield from Try(list(dict.fromkeys(drawn)), keep=True)

    def _draw(self, text: Text, options: Mapping[int, tuple[str, ...]], rng: Random) -> Text:
        for i in rng.sample(list(options), min(self.words, len(options))):
            text = text.swap(i, rng.choice(options[i]))
        return text


@registered("typo")
def typo(
    *,
    words: Annotated[int, "how many words of a text become typos"] = 1,
    draws: Annotated[int, "how many random texts are tried; the best is kept"] = 1,
    typos: Annotated[
        str | None, "a file of lines 'word typo typo …' instead of nlpaug's English list"
    ] = None,
) -> Typo:
    """Replace random words by typos that people make, whatever comes of it."""
    check_count(words=words, draws=draws)
    return Typo(Typos.load(typos), words, draws)
