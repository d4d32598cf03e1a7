"""How much of a text an attack may change: a share of its words or characters, as a count."""

from __future__ import annotations

from brittle.asks import Case
from brittle.text import Text

_ROUNDING = 1e-9  # 0.29 · 100 is 29 words, though a little less in floating point


def max_words(text: Text, share: float) -> int:
    """Return the number of words in a share of the text: rounded down, but at least one."""
    return max(1, int(share * len(text) + _ROUNDING))


def max_characters(case: Case[Text], share: float) -> int:
    """Return the number of characters in a share of the words that the target reads.

    It is rounded down, but at least one; it is 0 if the target reads no word.
    """
    words = case.text.words
    count = sum(len(word) for i in case.positions if isinstance(word := words[i], str))
    return max(1, int(share * count + _ROUNDING)) if count else 0
