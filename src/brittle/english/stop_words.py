"""English stop words: the words that hold a sentence together and carry little meaning.

The list, by word class, is our own, since no package that brittle depends on has one. Unlike many
lists it holds function words only: no nouns, no full verbs, no adjectives of quality.
"""

from __future__ import annotations

from pathlib import Path

_LINES = Path(__file__).with_name("stop_words.txt").read_text("utf-8").splitlines()
STOP_WORDS = frozenset(w for line in _LINES if not line.startswith("#") for w in line.split())


def is_stop_word(word: str) -> bool:
    """Tell whether a word is a stop word, whatever its case or the form of its apostrophe.

    >>> is_stop_word("The"), is_stop_word("don’t"), is_stop_word("film")
    (True, True, False)
    """
    return word.lower().replace("’", "'") in STOP_WORDS
