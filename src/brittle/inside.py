"""What a network shows of its inside for one text: its vector, and what it attends to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Embedding:
    """The vector of a text, which the last layer turns into logits, and the scores of that pass."""

    vector: Array
    scores: list[float]


@dataclass(frozen=True, eq=False)
class Attention:
    """How much the words of a text attend to each other.

    `weights` are layers × heads × words × words, from row to column; a head that attends once over
    a whole text has one row: 1 × 1 × 1 × words. `summary` are layers × heads × words: what the
    summary position, from which the head reads the text, gives each word; a head that attends has
    its own weights there, 1 × 1 × words. What goes to a word of several tokens is the sum over
    them, what comes from it the mean.

    What a row gives to tokens that are no word of the text (special tokens, punctuation, locked
    fields) is `elsewhere`, layers × heads × rows, and `summary_elsewhere`, layers × heads: with it
    a row adds up to 1. Rows of words that are not read are zeros. Where the sides of a pair are
    read apart, what both have in common (the one row of a head, the summary) adds up to 1 for each
    side. None where a target does not say.
    """

    weights: Array
    summary: Array
    elsewhere: Array | None = None
    summary_elsewhere: Array | None = None
