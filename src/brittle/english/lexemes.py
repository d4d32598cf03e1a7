"""Lexemes: the forms of one word, such as "see", "saw" and "seen", are the same word."""

from __future__ import annotations

from functools import lru_cache


def same_lexeme(a: str, b: str) -> bool:
    """Tell whether two words can be forms of one word, whatever their case.

    They can if they share a lemma under one part of speech. Words of equal spelling always do.

    >>> same_lexeme("saw", "sees"), same_lexeme("good", "Better"), same_lexeme("good", "nice")
    (True, True, False)
    """
    return a.lower() == b.lower() or not lexemes(a.lower()).isdisjoint(lexemes(b.lower()))


# Bounded, so that a long run over ever new words does not grow without end.
@lru_cache(maxsize=1 << 16)
def lexemes(word: str) -> frozenset[tuple[str, str]]:
    """Give the lemmas a word can have, each with its part of speech.

    A word that the dictionary does not know has those that its ending suggests, as a noun or a
    verb: the rules for endings are of English letters, and unsure of adjectives.
    """
    from lemminflect import getAllLemmas, getLemma

    found: dict[str, tuple[str, ...]] = getAllLemmas(word)
    if not found and word.isascii() and word.isalpha():
        found = {part: getLemma(word, part) for part in ("NOUN", "VERB")}
    # Auxiliaries are listed apart from verbs, though "has" is a form of "have" as either.
    return frozenset(
        ("VERB" if part == "AUX" else part, lemma)
        for part, lemmas in found.items()
        for lemma in lemmas
    )
