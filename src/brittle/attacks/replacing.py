"""What a word is replaced by: words of a vocabulary, in random order or by embedding distance.

These are parts of attacks, to be used with `yield from`. A winner ends the search; without one
they return the text with which the search may go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from brittle.asks import Case, Embed, Search, Try
from brittle.attacks.weak_spots import Asks
from brittle.english.common_words import common_words
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.text import Text, Word

TEXTS_PER_ASK = 256
"""How many candidates of a case are built at once; their embeddings are in memory together."""


class Best(NamedTuple):
    """The text to go on with, and its loss."""

    text: Text
    loss: float


class Replace(Protocol):
    """Replaces the word at a position of a text; `asks` is what it asks."""

    asks: ClassVar[Asks]

    @property
    def vocabulary(self) -> Sequence[str]: ...

    def __call__(self, case: Case[Text], best: Best, i: int, rng: Random) -> Search[Best]: ...


@dataclass(frozen=True)
class InRandomOrder:
    """Try the words of a vocabulary in random order, until one wins.

    Random draws: a `sample` of all words that may stand at the position.
    """

    vocabulary: Sequence[str]
    asks: ClassVar[Asks] = (Try,)

    def __call__(self, case: Case[Text], best: Best, i: int, rng: Random) -> Search[Best]:
        words = replacements(self.vocabulary, case.text.words[i])
        return (yield from try_in_order(best, i, rng.sample(words, len(words))))


@dataclass(frozen=True)
class ByEmbeddingDistance:
    """Try the words of a vocabulary that change the embedding of the text least, nearest first.

    The distance is L1, between the embeddings of the original and of the candidate; ties go to the
    more frequent word. Only the `nearest` words are tried, all if it is None.
    """

    vocabulary: Sequence[str]
    nearest: int | None = None
    asks: ClassVar[Asks] = (Embed, Try)

    def __call__(self, case: Case[Text], best: Best, i: int, rng: Random) -> Search[Best]:
        words = replacements(self.vocabulary, case.text.words[i])
        (original,) = yield from Embed([case.text])
        distance: list[float] = []  # L1
        for part in _parts(words):
            embeddings = yield from Embed(best.text.swaps(i, part))
            vectors = np.array([embedding.vector for embedding in embeddings])
            distance += np.abs(vectors - original.vector).sum(axis=1).tolist()
        order = np.argsort(distance, kind="stable")[: self.nearest]
        # Where the target gives the embeddings, it has given the answers too, and none is computed.
        return (yield from try_in_order(best, i, [words[n] for n in order]))


def replacements(vocabulary: Sequence[str], old: Word) -> list[str]:
    """List the words of a vocabulary that may replace a word: all but itself, whatever its case."""
    own = str(old).casefold()
    return [word for word in vocabulary if word.casefold() != own]


def take_words(target_words: Sequence[str], size: int) -> tuple[str, ...]:
    """Take the first words of a target's vocabulary; without one, the most common English words."""
    if not (isinstance(size, int) and size >= 2):
        raise UsageError(
            f"Got --vocabulary {size!r}; expected a whole number, 2 or more: a word cannot be "
            "replaced by itself. Without the flag its default holds."
        )
    words = tuple(target_words or common_words())[:size]
    if len(replacements(words, words[0] if words else "")) < 1:
        raise UsageError(
            f"The vocabulary has {plural(len(words), 'words')} to choose from; "
            "expected two or more. Use a target with a larger vocabulary, or another attack."
        )
    return words


def try_in_order(best: Best, i: int, words: Sequence[str]) -> Search[Best]:
    """Try words at a position, until one wins; return the text with which to go on.

    That is the candidate with the highest loss, the first of several, unless its loss is lower than
    that of the text so far.
    """
    highest = Best(best.text, -np.inf)
    for part in _parts(words):
        texts = best.text.swaps(i, part)
        answer = yield from Try(texts, in_order=True)
        n = answer.best
        if n is not None and answer.loss[n] > highest.loss:
            highest = Best(texts[n], float(answer.loss[n]))
    return highest if highest.loss >= best.loss else best


def _parts(words: Sequence[str]) -> list[Sequence[str]]:
    starts = range(0, len(words), TEXTS_PER_ASK)
    return [words[start : start + TEXTS_PER_ASK] for start in starts]
