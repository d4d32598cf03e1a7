"""Typing errors without a search: Key and Key*, and typos that people make.

Key and Key*: random character changes, the query-only baselines of HotFlip.

Typo: random words become typos of theirs, from a list; no search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from string import ascii_letters, digits
from typing import Annotated, ClassVar

from brittle.asks import NO_CANDIDATES, Case, Search, Try, Unfit
from brittle.attacks.recipes import check_count, check_share, max_characters
from brittle.attacks.registry import registered
from brittle.candidates.typos import Typos, beside
from brittle.text import Text

ALPHABET = ascii_letters + digits
"""The characters that Key* types: a word that contains them is still one word."""


@dataclass(frozen=True)
class Key:
    """Change random characters, and keep the best of a few draws (Ebrahimi et al., 2018).

    A character becomes one that lies beside it on the keyboard (Key, after Belinkov and Bisk, 2018)
    or, with `anywhere`, any letter or digit (Key*). There are r steps; r is `share` of the
    characters of the words that the target reads (rounded down, but at least one). In each step
    `draws` texts with one more change are drawn and all tried; the best becomes the next text
    unless its loss is lower. A text with an equal loss is taken too: otherwise a target that
    answers labels only would hold the search at the original.

    Random draws, in order: for each text drawn, a `choice` among the characters that can be
    changed, from the left, then a `choice` among what it can become. Equal texts are asked once.

    The paper says "greedy" and "random", and not how many draws a step has: here as many as its
    beam has texts. Deviation: the paper's edited words are no words of the target's vocabulary,
    which cannot be seen from outside, so here they may be. Key leaves a character without a key of
    its own (é, a hyphen) alone.
    """

    anywhere: bool = False
    share: float = 0.1
    draws: int = 10
    asks: ClassVar = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        text, loss = case.text, case.start_loss
        for _ in range(max_characters(case, self.share)):
            changes = self._changes(case, text)
            if not changes:
                if text is case.text:
                    raise Unfit(NO_CANDIDATES)
                return
            drawn = [_change(text, *rng.choice(changes), rng) for _ in range(self.draws)]
            texts = list(dict.fromkeys(drawn))
            answer = yield from Try(texts)
            best = answer.best
            if best is not None and answer.loss[best] >= loss:
                text, loss = texts[best], float(answer.loss[best])

    def _changes(self, case: Case[Text], text: Text) -> list[tuple[int, int, str]]:
        """List the characters that can be changed: position, character in the word, new ones."""
        return [
            (position, character, new)
            for position in case.positions
            for character, old in enumerate(str(text.words[position]))
            if (new := self._new_characters(old))
        ]

    def _new_characters(self, old: str) -> str:
        return ALPHABET.replace(old, "") if self.anywhere else beside(old)


def _change(text: Text, position: int, character: int, new: str, rng: Random) -> Text:
    word = str(text.words[position])
    return text.swap(position, word[:character] + rng.choice(new) + word[character + 1 :])


@registered("key")
def key(
    *,
    share: Annotated[float, "largest share of the characters to change"] = 0.1,
    draws: Annotated[int, "random changes to try in a step"] = 10,
) -> Key:
    """Type random neighbours on the keyboard (Key: Belinkov and Bisk, 2018)."""
    check_share(share=share)
    check_count(draws=draws)
    return Key(False, share, draws)


@registered("key-any")
def key_any(
    *,
    share: Annotated[float, "largest share of the characters to change"] = 0.1,
    draws: Annotated[int, "random changes to try in a step"] = 10,
) -> Key:
    """Type random letters and digits (Key*: Ebrahimi et al., 2018)."""
    check_share(share=share)
    check_count(draws=draws)
    return Key(True, share, draws)


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
    words: Annotated[int, "number of words that become typos"] = 1,
    draws: Annotated[int, "random texts to try; the best one is kept"] = 1,
    typos: Annotated[
        str | None, "your own list, lines 'word typo typo …', instead of nlpaug's English one"
    ] = None,
) -> Typo:
    """Replace random words by typos that people make, whatever comes of it."""
    check_count(words=words, draws=draws)
    return Typo(Typos.load(typos), words, draws)
