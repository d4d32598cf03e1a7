"""Words of translations as goals compare them: case-blind, whole, and by how alike they are."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from unicodedata import normalize

from brittle.text import words_of

MIN_SIMILARITY_BY_LENGTH = 0.2
"""Words whose lengths alone keep them below this similarity count as not alike at all."""


def folded_words(text: str) -> list[str]:
    """List the words of a text, without differences of case and of composed characters.

    >>> folded_words("Die Straße, das ÉTÉ!")
    ['die', 'strasse', 'das', 'été']
    """
    return [normalize("NFC", word.casefold()) for word in words_of(text)]


@lru_cache(maxsize=1 << 16)
def similarity(word: str, other: str) -> float:
    """Return how alike two words are: 2 · common characters in order / all characters.

    It is 1 for equal words only. (difflib's ratio.)

    >>> similarity("art", "art"), similarity("arm", "art"), similarity("no", "art")
    (1.0, 0.6666666666666666, 0.0)
    """
    shorter, both = min(len(word), len(other)), len(word) + len(other)
    if 2 * shorter < MIN_SIMILARITY_BY_LENGTH * both:
        return 0.0
    return SequenceMatcher(None, word, other, autojunk=False).ratio()


def best_match(words: Sequence[str], phrase: Sequence[str]) -> float:
    """Return how near words come to a phrase, in 0..1: 1 exactly where they contain it.

    It is the highest mean similarity of as many consecutive words to the words of the phrase.

    >>> best_match(["viel", "arte"], ["art"]) == similarity("arte", "art")
    True
    >>> best_match(["auf", "jeden", "fall"], ["jeden", "fall"]), best_match([], ["art"])
    (1.0, 0.0)
    """
    starts = range(max(1, len(words) - len(phrase) + 1))
    return max(
        sum(similarity(word, part) for word, part in zip(words[start:], phrase)) / len(phrase)
        for start in starts
    )
