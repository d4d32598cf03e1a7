"""Which words of a text are names, also where capitals are missing."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from brittle.english.counterfitted import counterfitted
from brittle.english.lexicon import load_lexicon
from brittle.english.stop_words import is_stop_word
from brittle.english.wordnet import wordnet
from brittle.text import Text

NEIGHBOURS = 10
MIN_NAMES = 5
"""A word is used as a name if so many of its nearest words can be nothing but names."""


def name_positions(text: Text) -> frozenset[int]:
    """Return the positions of names.

    A name is a word that can be nothing else, one whose nearest words are names, or one that can be
    a name and stands beside one: both words of "guy ritchie".
    """
    words = [word.lower() if isinstance(word, str) else "" for word in text.words]
    names = {i for i, word in enumerate(words) if is_name(word)}
    beside = set()
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        for i in range(start + 1, stop):
            if field.gaps[i - start].isspace() and (i in names) != (i - 1 in names):
                other = i if i - 1 in names else i - 1
                can_be = _can_be_name(words[other]) and not is_stop_word(words[other])
                beside |= {other} if can_be else set()
    return frozenset(names | beside)


# Bounded, so that a long run over ever new words does not grow without end.
@lru_cache(maxsize=1 << 15)
def is_name(word: str) -> bool:
    """Tell whether a word in lower case is a name, or mostly one.

    >>> [is_name(word) for word in ("spielberg", "john", "christmas", "film", "grant")]
    [True, True, True, False, False]
    """
    if is_stop_word(word) or not word.isalpha():
        return False
    if _is_surely_name(word) or wordnet().is_name(word):
        return True
    vectors = counterfitted().vectors
    row = vectors.index.get(word)
    if row is None or not _can_be_name(word):
        return False
    cosine = vectors.matrix @ vectors.matrix[row]
    # The word itself is the nearest; the order of the others does not matter.
    nearest = np.argpartition(-cosine, NEIGHBOURS)[: NEIGHBOURS + 1]
    return sum(_is_surely_name(vectors.words[n]) for n in nearest if n != row) >= MIN_NAMES


def _is_surely_name(word: str) -> bool:
    return word not in load_lexicon().tags and _can_be_name(word)


def _can_be_name(word: str) -> bool:
    return load_lexicon().tags.get(word[:1].upper() + word[1:], "").startswith("NNP")
