"""Attacks with strong words of the opposite class: N strongest words swap, and tack-on word.

N strongest words swap: the words that speak most for a class become words of the opposite.

Tack-on word: the first word becomes a strong word of the opposite class.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

import numpy as np

from brittle.asks import Case, Search, Try
from brittle.attacks.recipes import RunContext, check_count
from brittle.attacks.registry import registered
from brittle.candidates.strong_words import StrongWords
from brittle.candidates.training_data import learn_once
from brittle.text import Text


@dataclass(frozen=True)
class TackOn:
    """Replace the first word by one of the strongest of the opposite class, drawn at random.

    This takes one query beyond the first. With more than two classes the opposite is the runner-up
    on the original, or the class aimed at.

    Random draws: one `choice` among the strongest words.

    Deviation: the vocabulary is that of the training data, where the paper's is that of the
    embeddings (400,000 words).
    """

    strong: StrongWords
    words: int = 5
    asks: ClassVar = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        assert case.label is not None
        word = rng.choice(self.strong.strongest(opposite(case), case.label, self.words))
        yield from Try([case.text.swap(0, word)])


def opposite(case: Case[Text]) -> int:
    """Return the class aimed at, or the runner-up on the original."""
    if case.toward is not None:
        return case.toward
    if case.start is None:
        raise ValueError(f"case {case.id} has not been started")
    scores = np.array(case.start.answers[0], dtype=np.float64)
    scores[case.label] = -1.0
    return int(scores.argmax())


@registered("tack-on")
def tack_on(
    *,
    context: RunContext = RunContext(),
    learn_from: Annotated[str | None, "labelled data to learn strong words from"] = None,
    words: Annotated[int, "choose from this many of the strongest words"] = 5,
) -> TackOn:
    """Replace the first word by a strong word of the opposite class."""
    labels = context.needed_labels("tack-on")
    check_count(words=words)
    strong = learn_once(
        StrongWords.learn, "words", learn_from, labels, context.label_map, context.data_columns
    )
    return TackOn(strong, words)


@dataclass(frozen=True)
class StrongestSwap:
    """Replace the n words that speak most for the true class by strong words of the opposite one.

    All n are replaced at once: one query beyond the first. The replacements are drawn, each by one
    `choice` from the strongest word to the weakest, among the `words` strongest of the opposite
    class; with more than two classes that is the runner-up on the original, or the class aimed at.

    The paper replaces N tokens, those "with the strongest sway" toward the right class: a ranking
    of the text's words, each position for itself, and no threshold. So if fewer than n words speak
    for the class, words that speak for neither class are replaced too, then those that speak least
    against it.

    Deviation: the vocabulary is that of the training data, where the paper's is that of the
    embeddings (400,000 words). A word that is not in it speaks for no class and is never drawn.
    """

    strong: StrongWords
    n: int = 5
    words: int = 5
    asks: ClassVar = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        text, label, other = case.text, case.label, opposite(case)
        assert label is not None
        choices = self.strong.strongest(other, label, self.words)
        strength = [self.strong.strength(str(word), label, other) for word in text.words]
        for i in sorted(case.positions, key=lambda i: -strength[i])[: self.n]:
            text = text.swap(i, rng.choice(choices))
        yield from Try([text])


@registered("strongest-swap")
def strongest_swap(
    *,
    context: RunContext = RunContext(),
    n: Annotated[int, "number of words to replace (the paper: 1, 3 and 5)"] = 5,
    learn_from: Annotated[str | None, "labelled data to learn strong words from"] = None,
    words: Annotated[int, "choose from this many of the strongest words"] = 5,
) -> StrongestSwap:
    """Replace the n strongest words by strong words of the opposite class."""
    labels = context.needed_labels("strongest-swap")
    check_count(n=n, words=words)
    strong = learn_once(
        StrongWords.learn, "words", learn_from, labels, context.label_map, context.data_columns
    )
    return StrongestSwap(strong, n, words)
