"""Lexemes: the forms of one word, such as "see", "saw" and "seen", are the same word."""

from __future__ import annotations

from functools import lru_cache

from brittle.english.lemminflect import load_lemminflect


def same_lexeme(a: str, b: str) -> bool:
    """Tell whether two words can be forms of one word, whatever their case.

    They can if they share a lemma under one part of speech, or if they are spelt the same.

    >>> same_lexeme("saw", "sees"), same_lexeme("good", "Better"), same_lexeme("good", "nice")
    (True, True, False)
    """
    return a.lower() == b.lower() or not lexemes(a.lower()).isdisjoint(lexemes(b.lower()))


# Bounded, so that a long run over ever new words does not grow without end.
@lru_cache(maxsize=1 << 16)
def lexemes(word: str) -> frozenset[tuple[str, str]]:
    """Return the lemmas that a word can have, each with its part of speech.

    A word that the dictionary does not know has the lemmas that its ending suggests, as a noun or
    a verb: the rules for endings are for English letters, and not reliable for adjectives.
    """
    lemminflect = load_lemminflect()
    by_part: dict[str, tuple[str, ...]] = lemminflect.getAllLemmas(word)
    if not by_part and word.isascii() and word.isalpha():
        by_part = {part: lemminflect.getLemma(word, part) for part in ("NOUN", "VERB")}
    # Auxiliaries are listed apart from verbs, though "has" is a form of "have" in both lists.
    return frozenset(
        ("VERB" if part == "AUX" else part, lemma)
        for part, lemmas in by_part.items()
        for lemma in lemmas
    )
