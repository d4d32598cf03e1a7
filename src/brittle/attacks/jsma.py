"""JSMA: from the last word backwards, swap each for the one furthest along the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Annotated, ClassVar

from brittle.asks import Case, Flips, Search, Try
from brittle.attacks import checks
from brittle.attacks.aims import edit_request, match_case_if_lower
from brittle.errors import unknown
from brittle.moves import EditSpace, Moves
from brittle.text import Text, is_word

DIRECTIONS = ("gradient", "sign")


@dataclass(frozen=True)
class JSMA:
    """Swap words from the end of the text backwards, along the slope of the raw score.

    The Jacobian saliency map approach of Papernot et al. (2016), as used on sentiment models. The
    slope is that of the true class's score before the softmax, which does not saturate (or of the
    class aimed at). The last word that the target reads is the first to go, since an LSTM's memory
    is finite: it becomes the word of the target's dictionary whose vector difference has the
    largest projection on the direction. Then the word before it, at the text so far, until the goal
    is reached or `words` words have changed. One forward and one backward pass a word: the pass
    that judges a text also finds the next swap; the last text is tried only.

    `direction` is the gradient, as the paper's figure shows it, or its sign, as its text says; its
    pseudo-code is not printed. What it leaves open: a word that no other one surpasses stays, and
    is not counted; a substitute in lower case takes the capitalisation of the word it replaces, and
    entries of the dictionary that are no words are passed over.
    """

    words: int = 35
    direction: str = "gradient"
    asks: ClassVar = (Flips, Try)

    @property
    def space(self) -> EditSpace:
        # A few more than the one that is taken, for entries that are no words.
        return EditSpace("words", top_k=16, objective="logit", sign=self.direction == "sign")

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        text, changed, judged = case.text, 0, case.text
        for i in reversed(case.positions):
            judged = text
            answer = yield from Flips([text], partial(edit_request, case, self.space, (i,)))
            new = _best(answer.moves[0], str(text.words[i]))
            if new is not None:
                text, changed = text.swap(i, new), changed + 1
            if changed == self.words:
                break
        if text is not judged:
            yield from Try([text])


def _best(moves: Moves, old: str) -> str | None:
    """Find the first word that gains, and is another one."""
    for n, gain in enumerate(moves.gain.tolist()):
        if gain <= 0:
            break
        new = match_case_if_lower(moves[n].new, old)
        if new != old and is_word(new):
            return new
    return None


def jsma(
    *,
    words: Annotated[int, "at most this many words are replaced"] = 35,
    direction: Annotated[str, "what is followed: gradient, or its sign"] = "gradient",
) -> JSMA:
    """Swap words from the last one backwards, each along the gradient (JSMA)."""
    checks.count(words=words)
    if direction not in DIRECTIONS:
        raise unknown("direction", direction, DIRECTIONS)
    return JSMA(words, direction)
