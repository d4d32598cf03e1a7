"""Tack-on word: the first word becomes a strong word of the opposite class."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

import numpy as np

from brittle.asks import Case, Search, Try
from brittle.attacks.recipes import RunContext
from brittle.attacks.registry import registered
from brittle.attacks.setting_checks import check_count
from brittle.proposals.strong_words import StrongWords, learn_strong_words
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
    words: Annotated[int, "how many of the strongest words to choose from"] = 5,
) -> TackOn:
    """Replace the first word by a strong word of the opposite class."""
    labels = context.needed_labels("tack-on")
    check_count(words=words)
    strong = learn_strong_words(learn_from, labels, context.label_map, context.data_columns)
    return TackOn(strong, words)
