"""Substitutes for a word: synonyms from WordNet, or lists of the user's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from brittle.english.forms import (
    BASE_TAGS,
    FORMS_OF_BE,
    PART_OF_SPEECH,
    as_tagged,
    lemmas,
    match_case,
)
from brittle.english.wordnet import wordnet
from brittle.errors import UsageError
from brittle.safety.files import DAMAGED
from brittle.text import is_word


@dataclass(frozen=True)
class Synonyms:
    """Synonyms from WordNet with the word's own part of speech, inflected as the word is.

    Nouns (not proper nouns), verbs, adjectives and adverbs have substitutes; forms of "be" have
    none and are none. A substitute has another lemma and the same tag, and takes the word's
    capitalisation. With `inflect=False` only words in their base form have substitutes, and these
    are written as in WordNet.

    `folder` holds the user's own WordNet files; `senses` is how many senses of a word are used.
    """

    inflect: bool = True
    folder: str | None = None
    senses: int | None = None
    needs_tags: ClassVar[bool] = True

    def prepare(self, words: Iterable[str]) -> None:
        """Do nothing: words are looked up one by one."""

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the substitutes of a word with this Penn tag, best first.

        The order is that of the word's senses, then of the words in a sense.
        """
        return _substitutes(word, tag, self.inflect, self.folder, self.senses)


@dataclass(frozen=True)
class SubstituteTable:
    """Substitutes from lists, by the word in lower case; tags are not used."""

    entries: Mapping[str, tuple[str, ...]]
    needs_tags: ClassVar[bool] = False

    @staticmethod
    def load(path: str | Path) -> SubstituteTable:
        """Load a JSON file of one object: {"word": ["substitute", …], …}."""
        try:
            lists = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, *DAMAGED) as error:
            raise UsageError(
                f"The substitutes in {str(path)!r} cannot be read ({error}). Expected a JSON file "
                'such as {"good": ["fine", "decent"]}.'
            ) from error
        if not isinstance(lists, dict):
            raise UsageError(
                f"The substitutes in {str(path)!r} are a JSON {type(lists).__name__}. "
                'Expected an object such as {"good": ["fine", "decent"]}.'
            )
        for word, forms in lists.items():
            if not isinstance(forms, list) or not all(
                isinstance(form, str) and is_word(form) for form in forms
            ):
                raise UsageError(
                    f"The substitutes of {word!r} in {str(path)!r} are {str(forms)[:80]}. "
                    "Expected a list of single words."
                )
        return SubstituteTable({word.lower(): tuple(forms) for word, forms in lists.items()})

    def prepare(self, words: Iterable[str]) -> None:
        """Do nothing: the table is loaded."""

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the substitutes of a word."""
        return self.entries.get(word.lower(), ())


# Bounded, so that a long run over ever new words does not grow without end.
@lru_cache(maxsize=1 << 16)
def _substitutes(
    word: str, tag: str, inflect: bool, folder: str | None, senses: int | None
) -> tuple[str, ...]:
    part = PART_OF_SPEECH.get(tag)
    if part is None or word.lower() in FORMS_OF_BE or not (inflect or tag in BASE_TAGS):
        return ()
    net = wordnet(folder)
    word_lemmas = lemmas(word, tag)
    excluded = FORMS_OF_BE.union(word_lemmas)
    synonyms = (name for lemma in word_lemmas for name in net.synonyms(lemma, part, senses))
    substitutes: dict[str, str] = {}
    for name in dict.fromkeys(synonyms):
        if name.lower() in excluded or (part == "n" and _is_proper(name)):
            continue
        form = as_tagged(name, tag)
        if form is not None and form != word.lower() and is_word(form):
            substitutes.setdefault(form, match_case(form, word) if inflect else name)
    return tuple(substitutes.values())


def _is_proper(noun: str) -> bool:
    # WordNet writes proper nouns with a capital; "TV" and the like are common nouns.
    return noun[:1].isupper() and not noun.isupper()
