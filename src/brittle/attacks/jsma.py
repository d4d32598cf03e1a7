"""JSMA: from the last word backwards, swap each word for the one furthest along the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Annotated, ClassVar

from brittle.asks import NO_CANDIDATES, Case, Flips, Search, Try, Unfit
from brittle.attacks.recipes import check_count
from brittle.attacks.registry import registered
from brittle.attacks.substitutes import edit_request
from brittle.english.forms import match_case
from brittle.errors import unknown
from brittle.moves import EditSpace, Moves
from brittle.text import Text, is_word

DIRECTIONS = ("gradient", "sign")


@dataclass(frozen=True)
class JSMA:
    """Swap words from the end of the text backwards, along the gradient of the raw score.

    The Jacobian saliency map approach of Papernot et al. (2016), as used on sentiment models. The
    gradient is that of the true class's score before the softmax, which does not saturate (or of
    the class aimed at). The last word that the target reads is swapped first, since an LSTM's
    memory is finite: it becomes the word of the target's vocabulary whose vector difference has the
    largest projection on the direction. Then comes the word before it, in the new text, until the
    goal is reached or `words` words have changed. One forward and one backward pass a word: the
    pass that judges a text also finds the next swap; the last text is only tried.

    `direction` is the gradient, as the paper's figure shows it, or its sign, as its text says; its
    pseudo-code is not printed. What it leaves open: if no other word gains, the word stays, and is
    not counted; a substitute in lower case takes the capitalisation of the word it replaces, and
    entries of the vocabulary that are no words are passed over. With `once` all swaps follow the
    gradient at the original text: two queries a word, one of them for the original again.
    """

    words: int = 35
    direction: str = "gradient"
    once: bool = False
    asks: ClassVar = (Flips, Try)

    @property
    def space(self) -> EditSpace:
        # Only one is taken; the others are for entries of the vocabulary that are no words.
        return EditSpace("words", top_k=16, objective="logit", sign=self.direction == "sign")

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        if not case.positions:
            raise Unfit(NO_CANDIDATES)
        text, changed, judged = case.text, 0, case.text
        for i in reversed(case.positions):
            judged = text
            asked = case.text if self.once else text
            answer = yield from Flips([asked], partial(edit_request, case, self.space, (i,)))
            new = _best_word(answer.moves[0], str(text.words[i]))
            if new is not None:
                text, changed = text.swap(i, new), changed + 1
            if self.once and text is not judged:
                yield from Try([text])
            if changed == self.words:
                break
        if text is not judged and not self.once:
            yield from Try([text])


def _best_word(moves: Moves, old: str) -> str | None:
    """Return the first other word that gains, or None."""
    for n, gain in enumerate(moves.gain.tolist()):
        if gain <= 0:
            break
        new = match_case(moves[n].new, old, keep_capitals=True)
        if new != old and is_word(new):
            return new
    return None


@registered("jsma")
def jsma(
    *,
    words: Annotated[int, "largest number of words to replace"] = 35,
    direction: Annotated[str, "follow the gradient, or only its sign"] = "gradient",
    once: Annotated[bool, "compute the gradient once, at the original text"] = False,
) -> JSMA:
    """Swap words from the last one backwards, each along the gradient (JSMA)."""
    check_count(words=words)
    if direction not in DIRECTIONS:
        raise unknown("direction", direction, DIRECTIONS)
    return JSMA(words, direction, once)
