"""Key and Key*: random character changes, the query-only baselines of HotFlip."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from string import ascii_letters, digits
from typing import Annotated, ClassVar

from brittle.asks import Case, Search, Try
from brittle.attacks import checks
from brittle.attacks.aims import max_characters
from brittle.english.keyboard import beside
from brittle.text import Text

ALPHABET = ascii_letters + digits
"""What Key* types: characters that leave a word one word, wherever they stand in it."""


@dataclass(frozen=True)
class Key:
    """Change random characters, and keep the best of a few draws (Ebrahimi et al., 2018).

    A character becomes one that lies beside it on the keyboard (Key, after Belinkov and Bisk, 2018)
    or, with `anywhere`, any letter or digit (Key*). In each of r steps, r being `share` of the
    characters of the words the target reads (rounded down, but at least one), `draws` texts with
    one more change are drawn and all tried; the best becomes the next text unless its loss is
    lower. One that changes nothing is taken too: a target that answers labels only would hold the
    search at the original otherwise.

    Random draws, in order: for each text drawn, a `choice` among the characters that can be
    changed, from the left, then a `choice` among what it can become. Equal texts are asked once.

    The paper says "greedy" and "random", and not how many draws a step has: here as many as its
    beam has texts. Deviation: its edited words are no words of the target's vocabulary, which
    cannot be seen from outside, so here they may be. A character without a key of its own (é, a
    hyphen) is left alone by Key.
    """

    anywhere: bool = False
    share: float = 0.1
    draws: int = 10
    asks: ClassVar = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        text, loss = case.text, case.start_loss
        for _ in range(max_characters(case, self.share)):
            spots = self._spots(case, text)
            if not spots:
                return
            drawn = [_changed(text, *rng.choice(spots), rng) for _ in range(self.draws)]
            texts = list(dict.fromkeys(drawn))
            seen = yield from Try(texts)
            best = int(seen.loss.argmax())
            if seen.loss[best] >= loss:
                text, loss = texts[best], float(seen.loss[best])

    def _spots(self, case: Case[Text], text: Text) -> list[tuple[int, int, str]]:
        """List the characters that can be changed, by word and place in it, and into what."""
        return [
            (i, at, options)
            for i in case.positions
            for at, character in enumerate(str(text.words[i]))
            if (options := self._options(character))
        ]

    def _options(self, character: str) -> str:
        return ALPHABET.replace(character, "") if self.anywhere else beside(character)


def _changed(text: Text, i: int, at: int, options: str, rng: Random) -> Text:
    word = str(text.words[i])
    return text.swap(i, word[:at] + rng.choice(options) + word[at + 1 :])


def key(
    *,
    share: Annotated[float, "at most this share of the characters is changed"] = 0.1,
    draws: Annotated[int, "how many random changes are tried in a step"] = 10,
) -> Key:
    """Type random neighbours on the keyboard (Key: Belinkov and Bisk, 2018)."""
    checks.share(share=share)
    checks.count(draws=draws)
    return Key(False, share, draws)


def key_any(
    *,
    share: Annotated[float, "at most this share of the characters is changed"] = 0.1,
    draws: Annotated[int, "how many random changes are tried in a step"] = 10,
) -> Key:
    """Type random letters and digits (Key*: Ebrahimi et al., 2018)."""
    checks.share(share=share)
    checks.count(draws=draws)
    return Key(True, share, draws)
