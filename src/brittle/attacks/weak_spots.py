"""Where a text is weak: its positions in the order in which an attack should change them.

These are parts of attacks, to be used with `yield from`. They rank only positions that they are
given, so that a word that the target does not read is never chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from brittle.asks import Ask, Attend, Case, Probe, Search
from brittle.errors import UsageError, unknown
from brittle.formatting import plural
from brittle.goals.chrf import sentence_chrf
from brittle.text import Text

Asks = tuple[type[Ask[Any]], ...]
FIRST, LAST = "first", "last"
SUMMARY, WORDS = "summary", "words"
"""Whose attention counts: that of the position from which a text is read, or of all words."""


class Select(Protocol):
    """Ranks positions of a case's text, the weakest first; `asks` is what it asks."""

    asks: ClassVar[Asks]

    def __call__(self, case: Case[Text], positions: Sequence[int]) -> Search[list[int]]: ...


@dataclass(frozen=True)
class ByErasure:
    """Erase the words one by one: the weakest is the one whose erasure changes the output most.

    For a classifier that is the highest loss, for a translator the translation that is least like
    the original's, by chrF. Ties go to the first word.
    """

    asks: ClassVar[Asks] = (Probe,)

    def __call__(self, case: Case[Text], positions: Sequence[int]) -> Search[list[int]]:
        answer = yield from Probe([case.text.mask(i) for i in positions])
        change = answer.loss
        if case.start is not None and isinstance(case.start.answers[0], str):
            before = case.start.answers[0]
            change = np.array([100.0 - sentence_chrf(text, before) for text in answer.answers])
        return _ranked(positions, -change)


@dataclass(frozen=True)
class ByAttention:
    """The weakest word is the one with the highest attention or, if `lowest`, with the lowest.

    The attention of a word is the mean over the heads of one `layer` (first, last, or its number
    from 1) of what the summary position gives it or, with `of` words, the mean of what all words
    give it. Ties go to the first word.
    """

    lowest: bool = False
    layer: str = FIRST
    of: str = SUMMARY
    asks: ClassVar[Asks] = (Attend,)

    def __call__(self, case: Case[Text], positions: Sequence[int]) -> Search[list[int]]:
        (attention,) = yield from Attend([case.text])
        # A network that attends only where it reads the text has a summary of one layer.
        layers = attention.weights if self.of == WORDS else attention.summary
        weight = layers[layer_index(self.layer, len(layers))].mean(axis=0)
        if self.of == WORDS:
            weight = weight.mean(axis=0)
        weight = weight[list(positions)]
        return _ranked(positions, weight if self.lowest else -weight)


def layer_index(layer: str, count: int) -> int:
    """Return the index of a layer that is named first, last, or by its number from 1."""
    number = {FIRST: 1, LAST: count}.get(layer) or int(layer)
    if number > count:
        raise UsageError(
            f"Got --layer {layer}, but the target's attention has {plural(count, 'layers')}. "
            f"Expected {FIRST}, {LAST}, or a number up to {count}."
        )
    return number - 1


def check_attention(layer: str, attention_of: str) -> None:
    """Refuse a layer, or a kind of attention, that cannot be meant."""
    if layer not in (FIRST, LAST) and not (layer.isdecimal() and int(layer) > 0):
        raise UsageError(f"Got --layer {layer!r}; expected {FIRST}, {LAST}, or a number from 1.")
    if attention_of not in (SUMMARY, WORDS):
        kinds = (SUMMARY, WORDS)
        raise unknown("kind of attention", attention_of, kinds, "It is set by --attention-of.")


def _ranked(positions: Sequence[int], strength: NDArray[np.float64]) -> list[int]:
    return [positions[n] for n in np.argsort(strength, kind="stable")]
