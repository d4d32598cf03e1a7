"""The most common English words, as the table of the GloVe vectors lists them."""

from __future__ import annotations

from functools import cache

from brittle.english.vectors import GLOVE, load_vectors
from brittle.text import is_word


@cache
def common_words() -> tuple[str, ...]:
    """List the words of GloVe's table that consist of letters, the most frequent first."""
    return tuple(w for w in load_vectors(GLOVE).words if is_word(w) and w[0].isalpha())


@cache
def frequency_rank() -> dict[str, int]:
    """Return the rank of every common word."""
    return {word: n for n, word in enumerate(common_words())}
