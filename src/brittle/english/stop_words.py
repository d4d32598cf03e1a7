"""English stop words: the words that hold a sentence together and carry little meaning.

The list, by word class, is our own, since no package that brittle depends on has one. Unlike many
lists it holds function words only: no nouns, no full verbs, no adjectives of quality.

Tokenised text writes a contraction in two tokens: "does n't", "they 're", "don ' t". Their
apostrophe lies in the gap before the word, so the list has them as "re", "ll", "s". "ai" of
"ai n't" is left out, since it is a noun too.
"""

from __future__ import annotations

from pathlib import Path


def _load(name: str) -> set[str]:
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return {word for line in lines if not line.startswith("#") for word in line.split()}


CLITICS = frozenset({"n't", "nt", "t", "s", "re", "ve", "ll", "d", "m", "em"})
"""Tokens of contractions that cannot stand alone."""
STOP_WORDS = CLITICS | _load("stop_words.txt")
FUNCTION_WORDS = STOP_WORDS | _load("function_words.txt")
"""The stop words of English, and those of German, Portuguese, Spanish and French."""


def is_stop_word(word: str) -> bool:
    """Tell whether a word is a stop word, whatever its case or the form of its apostrophe.

    >>> is_stop_word("The"), is_stop_word("don’t"), is_stop_word("film")
    (True, True, False)
    """
    return _plain(word) in STOP_WORDS


def is_function_word(word: str) -> bool:
    """Tell whether a word is a stop word of one of the five languages, whatever its case.

    >>> is_function_word("Durch"), is_function_word("não"), is_function_word("Hund")
    (True, True, False)
    """
    return _plain(word) in FUNCTION_WORDS


def is_clitic(word: str) -> bool:
    """Tell whether a word is the second token of a contraction: no candidate for another word.

    >>> is_clitic("n’t"), is_clitic("ll"), is_clitic("not")
    (True, True, False)
    """
    return _plain(word) in CLITICS


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")
