"""A defence as a target: texts are normalised, then another target reads them.

Attacks go through it, so one run says what it is worth. What it does to a text is `plain` of
`brittle.safety.characters`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from brittle.errors import UsageError
from brittle.safety.characters import plain
from brittle.targets.fingerprints import hash_parts
from brittle.targets.protocols import (
    Classifies,
    HasCanonicalKeys,
    HasCanonicalScores,
    HasScores,
    Scores,
    close,
    declared_by,
)
from brittle.text import HOLE, Field, Frame, Text, Word, split

VERSION = "1"
"""The version of the normalisation, part of the fingerprint."""
PREFIX = "normalised:"
DECLARED = ("parallel", "costly", "batch", "in_process", "label_only", "trained_fields")
DECLARED_TOO = ("vocabulary", "reads_zero_vectors", "check_item", "silent", "price")
OF_CHATS = ("repeats", "join_repeats", "spent", "prompt_size", "max_written")


class Normalised:
    """A classifier that reads texts in plain characters; it has scores, and nothing else.

    What shows the inside of a target, such as its gradient, is by words of the text that it reads,
    and normalising may join and part words. So this is not passed on.
    """

    def __init__(self, target: Classifies) -> None:
        self.target: Any = target
        self.name = f"{PREFIX}{target.name}"
        self.labels = tuple(target.labels)
        for declared in (*DECLARED, *DECLARED_TOO, *OF_CHATS):
            setattr(self, declared, declared_by(target, declared))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.target!r})"

    @property
    def fingerprint(self) -> str:
        return hash_parts("normalised", VERSION, self.target.fingerprint)

    def scores(self, items: Sequence[Text]) -> Scores:
        scores: Scores = self.target.scores([normalised(item) for item in items])
        return scores

    def close(self) -> None:
        close(self.target)


class KeyedNormalised(Normalised):
    """The same, where the target knows which texts it cannot tell apart."""

    def canonical(self, items: Sequence[Text]) -> list[bytes]:
        keys: list[bytes] = self.target.canonical([normalised(item) for item in items])
        return keys


class ScoringByKeys(KeyedNormalised):
    """The same, where the target scores texts by their keys."""

    def canonical_scores(self, keys: Sequence[bytes]) -> Scores:
        scores: Scores = self.target.canonical_scores(keys)
        return scores


def of_target(target: Any) -> Normalised:
    """Put the normaliser before a target; refuse one that does not classify texts."""
    can_score = isinstance(target, HasScores)
    if not can_score or declared_by(target, "item_kind") != "text":
        what = "reads pictures" if can_score else "answers texts"
        raise UsageError(
            f"Got {PREFIX} before the target {target.name!r}, which {what}. Expected a classifier "
            "of texts."
        )
    by_keys = ScoringByKeys if isinstance(target, HasCanonicalScores) else KeyedNormalised
    kind: type[Normalised] = by_keys if isinstance(target, HasCanonicalKeys) else Normalised
    return kind(target)


def normalised(text: Text) -> Text:
    """Normalise all fields of a text, the locked ones too; a hole stays a hole."""
    words: list[Word] = []
    fields = []
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        if field.raw is not None:
            fields.append(Field(field.name, raw=_plain(field.raw)))
            continue
        own, gaps = _plain_field(field.gaps, text.words[start:stop])
        words += own
        fields.append(Field(field.name, gaps=tuple(gaps)))
    return Text(tuple(words), Frame(tuple(fields)))


def _plain_field(gaps: Sequence[str], words: Sequence[Word]) -> tuple[list[Word], list[str]]:
    """Normalise the stretches between the holes of a field; return its words and gaps."""
    new_words: list[Word] = []
    new_gaps: list[str] = [""]
    stretch = gaps[0]
    for word, gap in zip((*words, HOLE), (*gaps[1:], "")):
        if isinstance(word, str):
            stretch += word + gap
            continue
        own, between = split(_plain(stretch))
        new_words += [*own, HOLE]
        new_gaps[-1:] = [new_gaps[-1] + between[0], *between[1:], ""]
        stretch = gap
    return new_words[:-1], new_gaps[:-1]


_plain = lru_cache(maxsize=1 << 12)(plain)
