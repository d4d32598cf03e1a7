"""What a target is, and the small further things it may offer.

Beside `scores`, the broker looks for these attributes; each has a default where it is missing:

| attribute | default | meaning |
|---|---|---|
| `canonical(items) -> list[bytes]` | the items' keys | equal keys: alike to the model |
| `canonical_scores(keys) -> array` | none | scores from keys: nothing is encoded twice |
| `parallel: int` | 1 | how many threads may call the target at once |
| `costly: bool` | False | answers are journalled before they are used |
| `batch: int or None` | None | the rows of one call; None: found automatically |
| `in_process: bool` | True | a watchdog guards the call, for nothing else can end it |
| `label_only: bool` | False | only hard labels come back, as one-hot scores |
| `close()` | none | frees what the target holds |

What a model shows of its inside comes per word, or per character, of the user's text: matching
that with the pieces a model reads is the adapter's work. A target has these methods or has not:
`read`, `logits`, `flips`, `gradients`, `embeddings`, `attention` (see the protocols below).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from brittle.moves import EditRequest, Gradient, Level, ScoredMoves
from brittle.text import Text

Scores = NDArray[np.float64]


@runtime_checkable
class Target(Protocol):
    """Anything that is attacked."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...


@runtime_checkable
class Classifies(Target, Protocol):
    """A target that gives a probability to each of its labels."""

    @property
    def labels(self) -> Sequence[str]: ...

    def scores(self, items: Sequence[Text]) -> Scores:
        """Give probabilities of shape (items, labels), one row per item, in order."""
        ...


@runtime_checkable
class Encodes(Classifies, Protocol):
    """A target whose canonical key is its encoded input, so that nothing is encoded twice."""

    def canonical(self, items: Sequence[Text]) -> list[bytes]: ...

    def canonical_scores(self, keys: Sequence[bytes]) -> Scores: ...


@runtime_checkable
class Reads(Target, Protocol):
    """A target that says which words of a text it reads."""

    def read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        """Give for every text the positions of the words that are read, in order."""
        ...


@runtime_checkable
class HasFlips(Classifies, Reads, Protocol):
    """A target that ranks edits of a text by its gradient."""

    def flips(self, aims: Sequence[EditRequest]) -> list[ScoredMoves]:
        """Give every text's scores and best edits, by one forward and one backward pass each."""
        ...


@runtime_checkable
class HasGradients(Classifies, Reads, Protocol):
    """A target that shows its scores before the softmax, and their slope along its vectors."""

    def logits(self, items: Sequence[Text]) -> Scores: ...

    def gradients(self, aims: Sequence[EditRequest]) -> list[Gradient]:
        """Give the slope of every aim's objective, by word or character as its space says."""
        ...


@runtime_checkable
class HasEmbeddings(Classifies, Reads, Protocol):
    """A target that shows how it represents words, layer by layer."""

    @property
    def layers(self) -> Sequence[str]: ...

    def embeddings(self, items: Sequence[Text], layer: str, level: Level = "words") -> list[Any]:
        """Give for every text an array of words × dimensions; NaN for words not read.

        For characters: a list with an array of characters × dimensions for every word.
        """
        ...


@runtime_checkable
class HasAttention(Classifies, Reads, Protocol):
    """A target that shows where it looks."""

    def attention(self, items: Sequence[Text]) -> list[NDArray[np.float64]]:
        """Give for every text the weights, layers × heads × words × words, from row to column.

        A head that attends once over a whole text has one row: 1 × 1 × 1 × words. What the model
        gives to pieces that are no word of the text (its own marks, punctuation) is left out.
        """
        ...
