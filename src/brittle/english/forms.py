"""The forms of a word: lemmas, inflections, capitals, and which words are forms of one.

The forms of a word: its lemmas, its inflections, and its capitals.

Lemmas and inflections come from lemminflect: from its dictionary, else from its rules. Its tables
take about half a second to load, at the first call.

Lexemes: the forms of one word, such as "see", "saw" and "seen", are the same word. Import of
lemminflect without spaCy, which it would import wherever it is installed.

Its hook for spaCy adds two attributes to spaCy's tokens, which nothing here reads. spaCy imports
torch, so the first synonym would cost seconds of import.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from types import ModuleType
from typing import Any

HOOKED = "spacy"


@cache
def load_lemminflect() -> ModuleType:
    """Import lemminflect; spaCy stays as it was: imported, or not imported."""
    with _hidden(HOOKED):
        return importlib.import_module("lemminflect")


class _Hider:
    """A finder that knows no module of one name, in one thread."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.thread = threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == self.name and threading.get_ident() == self.thread:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextmanager
def _hidden(name: str) -> Iterator[None]:
    """Make a module that is not imported yet look as if it were not installed."""
    hider = _Hider(name)
    sys.meta_path.insert(0, hider)
    try:
        yield
    finally:
        sys.meta_path.remove(hider)


# The Penn tags of the words that have substitutes, by part of speech as WordNet writes it.
PART_OF_SPEECH: Mapping[str, str] = {
    **dict.fromkeys(("NN", "NNS"), "n"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "v"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "a"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "r"),
}
BASE_TAGS = frozenset({"NN", "VB", "VBP", "JJ", "RB"})
FORMS_OF_BE = frozenset({"be", "am", "is", "are", "was", "were", "been", "being"})

# Words whose first letter misleads: a silent h, and vowels that sound like "you" or "one".
_VOWEL_SOUND = ("hour", "honest", "honor", "honour", "heir", "unin", "unim")
_CONSONANT_SOUND = ("one", "once", "eu", "ewe", "use", "usua", "uti", "ubi", "uni", "ura")
_UNIVERSAL: Mapping[str, str] = {"n": "NOUN", "v": "VERB", "a": "ADJ", "r": "ADV"}


def lemmas(word: str, tag: str) -> tuple[str, ...]:
    """List the lemmas a word may have under a tag of `PART_OF_SPEECH`, in lower case.

    The tag decides where it can: "lay" is a form of "lie" as VBD, and its own lemma as VB.
    """
    form = word.lower()
    candidates: tuple[str, ...] = load_lemminflect().getLemma(form, _UNIVERSAL[PART_OF_SPEECH[tag]])
    fitting = tuple(lemma for lemma in candidates if form in inflections(lemma, tag))
    return fitting or candidates


def inflections(lemma: str, tag: str) -> tuple[str, ...]:
    """List the forms of a lemma under a tag of `PART_OF_SPEECH`, the usual form first."""
    if tag in BASE_TAGS:
        return (lemma,)
    # The rules for unknown words would compare every adjective by its ending: "beautifuler".
    is_compared = tag[-1] in "RS" and PART_OF_SPEECH[tag] in "ar"
    forms: tuple[str, ...] = load_lemminflect().getInflection(
        lemma, tag, inflect_oov=not is_compared
    )
    return forms


@lru_cache(maxsize=1 << 16)
def as_tagged(name: str, tag: str) -> str | None:
    """Return the form of a WordNet entry under a tag of `PART_OF_SPEECH`, or None if it has none.

    Most entries are lemmas and are inflected. Some are not ("spectacles", "best"): they stay as
    they are under their own tag, and have no other form.
    """
    entry = name.lower()
    part = PART_OF_SPEECH[tag]
    entry_tags = [other for other in possible_tags(entry) if PART_OF_SPEECH.get(other) == part]
    if entry_tags and not BASE_TAGS.intersection(entry_tags):
        return entry if tag in entry_tags else None
    return next(iter(inflections(entry, tag)), None)


@lru_cache(maxsize=1 << 16)
def possible_tags(word: str) -> frozenset[str]:
    """Return the Penn tags that the dictionary knows for this form of a word."""
    lemminflect = load_lemminflect()
    form = word.lower()
    tags = set()
    for universal, form_lemmas in lemminflect.getAllLemmas(form).items():
        for lemma in form_lemmas:
            # The dictionary lists the inflections of auxiliaries with those of verbs.
            inflected = lemminflect.getAllInflections(
                lemma, "VERB" if universal == "AUX" else universal
            )
            tags |= {tag for tag, forms in inflected.items() if form in forms}
    if "VB" in tags:
        tags.add("VBP")
    if form.endswith("ed") and tags & {"VBD", "VBN"}:
        # Of the two equal forms of a regular verb the dictionary lists one.
        tags |= {"VBD", "VBN"}
    return frozenset(tags)


def takes_an(word: str) -> bool:
    """Tell whether "an", not "a", stands before a word.

    >>> [takes_an(word) for word in ("amusing", "funny", "unique", "unfair", "hour", "European")]
    [True, False, False, True, True, False]
    """
    form = word.lower()
    if form.startswith(_VOWEL_SOUND) or form.startswith(_CONSONANT_SOUND):
        return form.startswith(_VOWEL_SOUND)
    return form[:1] in "aeiou"


def match_case(form: str, like: str, keep_capitals: bool = False) -> str:
    """Write a form as a word is written: Title, UPPER, else in lower case.

    With `keep_capitals` only a form in lower case changes: a vocabulary that distinguishes
    capitals means those it has.
    """
    if keep_capitals and (form != form.lower() or like == like.lower()):
        return form
    if like[:1].isupper() and like[1:] == like[1:].lower():
        return form[:1].upper() + form[1:].lower()
    return form.upper() if like.isupper() else form.lower()


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
