"""N strongest words swap: the words that speak most for a class become words of the opposite."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from brittle.asks import Case, Search, Try
from brittle.attacks.recipes import RunContext
from brittle.attacks.registry import registered
from brittle.attacks.setting_checks import check_count
from brittle.attacks.tack_on import opposite
from brittle.proposals.strong_words import StrongWords, learn_strong_words
from brittle.text import Text


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
    n: Annotated[int, "how many words to replace (the paper: 1, 3 and 5)"] = 5,
    learn_from: Annotated[str | None, "labelled data to learn strong words from"] = None,
    words: Annotated[int, "how many of the strongest words to choose from"] = 5,
) -> StrongestSwap:
    """Replace the n strongest words by strong words of the opposite class."""
    labels = context.needed_labels("strongest-swap")
    check_count(n=n, words=words)
    strong = learn_strong_words(learn_from, labels, context.label_map, context.data_columns)
    return StrongestSwap(strong, n, words)
